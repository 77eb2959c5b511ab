"""Test that the options of each command are a frozen dataclass, and that only the parser knows argparse."""

from argparse import _SubParsersAction
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

import gistmeter
from gistmeter.app.cli import parser
from gistmeter.app.options.parsing import Parser, options_from
from gistmeter.app.options.score import ScoreOptions

EDGE = {"help", "options", "run", "quiet", "debug"}
"""What `main` reads itself."""


def commands() -> Mapping[str, Parser]:
    (found,) = (action for action in parser()._actions if isinstance(action, _SubParsersAction))
    return found.choices


@pytest.mark.parametrize("name", commands())
def test_each_option_of_a_command_is_a_field_of_its_dataclass(name: str) -> None:
    command = commands()[name]
    asked = {action.dest for action in command._actions} - EDGE
    held = {field.name for field in fields(command.get_default("options"))} - EDGE
    assert asked == held


def test_options_are_frozen_and_hold_no_lists() -> None:
    arguments = parser().parse_args(
        ["score", "rouge", "chrf", "-i", "rows.jsonl", "--fail-under", "rouge=.3"]
    )
    options = options_from(ScoreOptions, arguments)
    assert (options.metrics, options.fail_under) == (("rouge", "chrf"), ("rouge=.3",))
    with pytest.raises(FrozenInstanceError):
        options.input = "other.jsonl"  # type: ignore[misc]


def test_only_the_parser_knows_argparse() -> None:
    root = Path(gistmeter.__file__).parent
    knows = {
        str(path.relative_to(root)) for path in root.rglob("*.py") if "argparse" in path.read_text("utf-8")
    }
    assert knows == {"app/cli.py", "app/options/benchmark.py", "app/options/parsing.py"}
