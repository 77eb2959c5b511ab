"""Read defaults of options from `gistmeter.toml` or `pyproject.toml` in the current folder.

The command line takes precedence. A config file sets only the options in `OPTIONS`, which say how texts are
scored and shown; files to read and write are always named on the command line.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gistmeter.app.options.parsing import Parser
from gistmeter.core.errors import UsageError
from gistmeter.core.nearest import did_you_mean

Table = Mapping[str, Any]
COMMANDS = ("score", "benchmark", "reproduce", "compare", "report")
"""The commands that a config file has defaults for."""
OPTIONS = frozenset(
    {
        "alpha",
        "backend",
        "batch-tokens",
        "by",
        "cache",
        "cache-mb",
        "cache-size",
        "device",
        "dimension",
        "dtype",
        "fail-under",
        "fields",
        "format",
        "language",
        "max-seconds-per-row",
        "model",
        "preset",
        "quiet",
        "rows",
        "seed",
        "spans",
        "workers",
    }
)


def configure(parsers: Mapping[str, Parser]) -> None:
    """Set the defaults of the options of commands from the config file, if there is one.

    Keys at the top apply to every command that has the option; a table with the name of a command applies to
    this command, and takes precedence.

    Args:
        parsers: The parser of each command.

    Raises:
        UsageError: If the file is not valid TOML, a key is unknown, or a value is invalid.
    """
    place, table = _read()
    commands = {name: parsers[name] for name in COMMANDS}
    own = {name: value for name, value in table.items() if name in commands}
    for key, value in table.items():
        if key not in own:
            _set(commands, key, value, place, more=commands)
    for name, values in own.items():
        if not isinstance(values, dict):
            raise UsageError(f"{place}: {name} must be a table of options, not {values!r}")
        for key, value in values.items():
            _set({name: parsers[name]}, key, value, f"{place}, {name}")


def complete(arguments: argparse.Namespace) -> None:
    """Set the configured values of repeatable options that the command line does not have."""
    for name, value in getattr(arguments, "configured", {}).items():
        setattr(arguments, name, getattr(arguments, name) or value)


def _read() -> tuple[str, Table]:
    """Return the name of the config file and its table, which is empty if there is no file."""
    name = "gistmeter.toml"
    if (found := _toml(name)) is not None:
        return name, found
    tools = (_toml("pyproject.toml") or {}).get("tool", {})
    table = tools.get("gistmeter", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise UsageError(f"pyproject.toml: tool.gistmeter must be a table, not {table!r}")
    return "pyproject.toml", table


def _toml(name: str) -> Table | None:
    path = Path(name)
    if not path.is_file():
        return None
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # also of text that is not UTF-8
        raise UsageError(f"cannot read the config file {name}: {error}") from None


def _set(
    commands: Mapping[str, Parser], key: str, value: object, place: str, *, more: Mapping[str, Parser] = {}
) -> None:
    """Set the default of an option in each of the commands that have it."""
    options = {name: parser.named_options() for name, parser in commands.items()}
    known = {option.removeprefix("--") for found in options.values() for option in found} & OPTIONS
    if key not in known:
        hint = did_you_mean(key, [*known, *more])
        raise UsageError(f"{place}: unknown key {key!r}{hint}; there are: {', '.join(sorted(known))}")
    for name, found in options.items():
        if f"--{key}" in found:
            action = found[f"--{key}"]
            try:
                _set_default(commands[name], action.dest, _value(action, value))
            except (argparse.ArgumentTypeError, ValueError) as error:
                raise UsageError(f"{place}: {key} = {value!r}: {error}") from None


def _set_default(parser: Parser, name: str, value: object) -> None:
    """Set a default; argparse would extend that of a repeatable option, so `complete` sets it later."""
    if isinstance(value, list):
        parser.set_defaults(configured={**(parser.get_default("configured") or {}), name: value})
    else:
        parser.set_defaults(**{name: value})


def _value(action: argparse.Action, value: object) -> object:
    """Return a value as the command line would have it."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise ValueError("write true or false")
        return value
    if isinstance(action.default, list):
        if not isinstance(value, list):
            raise ValueError("write a list of texts")
        return [_single(action, each) for each in value]
    if isinstance(value, dict) and action.dest == "fields":
        value = ",".join(f"{field}={column}" for field, column in value.items())
    return _single(action, value)


def _single(action: argparse.Action, value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("write a text or a number")
    text = str(value)
    converted: object = action.type(text) if callable(action.type) else text
    if action.choices is not None and converted not in action.choices:
        choices = list(map(str, action.choices))
        raise ValueError(f"choose one of {', '.join(choices)}{did_you_mean(text, choices)}")
    return converted
