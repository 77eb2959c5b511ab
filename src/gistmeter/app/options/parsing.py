"""Parse the command line: the parser class, types of values, and namespaces converted to dataclasses."""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any, ClassVar, NoReturn, Protocol, TypeAlias, TypeVar

from gistmeter import catalog
from gistmeter.core.language import primary
from gistmeter.core.nearest import did_you_mean
from gistmeter.report.plain import plain

DIGITS = 19
METRIC_HELP = f"""\
metrics:
  {", ".join(catalog.METRICS)}
  all: every metric whose model is available, except check and quality; also those of other packages
  Options follow a colon: speed:against=source,match=optimal
"""


class Parser(argparse.ArgumentParser):
    """A parser that suggests similar names, and prints no escape sequences."""

    def error(self, message: str) -> NoReturn:
        """Print a usage error without escape sequences from the arguments."""
        super().error(plain(message))

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Print a usage error about unknown arguments, with the option that is most similar to the first."""
        given = next((word.partition("=")[0] for word in unknown if word.startswith("-")), "")
        hint = did_you_mean(given, self.named_options())
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")

    def named_options(self) -> dict[str, argparse.Action]:
        """Return the options that are not hidden, by each of their names."""
        shown = (action for action in self._actions if action.help != argparse.SUPPRESS)
        return {name: action for action in shown for name in action.option_strings}

    def positionals(self) -> list[argparse.Action]:
        """Return the arguments without a name."""
        return [action for action in self._actions if not action.option_strings]

    def _check_value(self, action: argparse.Action, value: object) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            hint = did_you_mean(str(value), map(str, action.choices or ()))
            raise argparse.ArgumentError(action, f"{error.message}{hint}") from None


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
Group: TypeAlias = argparse._ArgumentGroup
Action: TypeAlias = argparse.Action


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Options = TypeVar("Options", bound=_Dataclass)


def options_from(cls: type[Options], arguments: argparse.Namespace) -> Options:
    """Return the parsed arguments as a dataclass with a field for each; lists become tuples."""
    values = {field.name: getattr(arguments, field.name) for field in fields(cls)}
    return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def add_command(commands: Commands, name: str, *, help: str, description: str) -> Parser:
    """Add a command whose help lists the metrics."""
    return commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=METRIC_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def positive(text: str) -> int:
    """Return a whole number above 0."""
    number = not_negative(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not above 0; give at least 1")
    return number


def not_negative(text: str) -> int:
    """Return a whole number of at least 0."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{plain(text, 40)!r} is not a whole number of at least 0")
    return int(text) if len(text) < DIGITS else sys.maxsize  # no file has more rows, no machine more memory


def above_zero(text: str) -> float:
    """Return a finite number above 0."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return number


def share(text: str) -> float:
    """Return a number between 0 and 1."""
    number = float(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number


def language(text: str) -> str | None:
    """Return the primary subtag of a language tag; None if it stands for an unknown language."""
    try:
        return primary(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def shard(text: str) -> tuple[int, int]:
    """Return the number of a part and the count of parts, written as I/N."""
    first, _, last = text.partition("/")
    number, count = positive(first), positive(last)
    if number > count:
        raise argparse.ArgumentTypeError(f"{plain(text, 40)}: there are only {count} parts; write 1/{count}")
    return number, count
