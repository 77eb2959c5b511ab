"""Test that the options of each command are a frozen dataclass, and that only the parser knows argparse."""

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

import gistmeter
from gistmeter.app.cli import parse
from gistmeter.app.options.every import parsers
from gistmeter.app.options.parsing import options_from
from gistmeter.app.options.score import ScoreOptions

EDGE = {"help", "options", "run", "quiet", "debug"}
"""What `main` reads itself."""


_, COMMANDS = parsers()


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_of_a_command_is_a_field_of_its_dataclass(name: str) -> None:
    command = COMMANDS[name]
    asked = {action.dest for action in command._actions}
    asked |= command._defaults.keys() - {"options", "run"}  # what the command does not ask, as check does
    held = {field.name for field in fields(command.get_default("options"))} - EDGE
    assert asked - EDGE == held


def test_options_are_frozen_and_hold_no_lists() -> None:
    arguments = parse(["score", "rouge", "chrf", "-i", "rows.jsonl", "--fail-under", "rouge=.3"])
    options = options_from(ScoreOptions, arguments)
    assert (options.metrics, options.fail_under) == (("rouge", "chrf"), ("rouge=.3",))
    with pytest.raises(FrozenInstanceError):
        options.input = "other.jsonl"  # type: ignore[misc]


def test_only_the_parser_knows_argparse() -> None:
    root = Path(gistmeter.__file__).parent
    files = (path for path in root.rglob("*.py") if "argparse" in path.read_text("utf-8"))
    knows = {path.relative_to(root).as_posix() for path in files}
    assert {name for name in knows if not name.startswith("app/options/")} == {"app/cli.py", "app/config.py"}
