"""Options of `gistmeter check`."""

from dataclasses import dataclass

from gistmeter.app.options.common import add_language, add_running
from gistmeter.app.options.parsing import Commands, Parser, share
from gistmeter.app.options.score import ScoreOptions, add_pair, add_rows, add_score


@dataclass(frozen=True, kw_only=True)
class CheckOptions(ScoreOptions):
    """Options of `gistmeter check`: those of `score` for the metric `check`, with one threshold."""

    least: float | None


def add_check(commands: Commands) -> None:
    """Add the command."""
    check = commands.add_parser(
        "check",
        help="tell which sentences of a text its source does not support",
        description="Tell which sentences of a text its source does not support: one pair of texts, or the "
        "rows of a file (-i), which get the same output as from `gistmeter score check`.",
    )
    add_pair(check.add_argument_group("one pair"))
    rows = check.add_argument_group("rows")
    add_rows(rows)
    rows.add_argument(
        "--fields", metavar="FIELD=COLUMN,…", default="", help="columns that hold fields under other names"
    )
    add_language(rows)
    gate = check.add_argument_group("gate: exit code 5 if it fails")
    gate.add_argument(
        "--fail-under",
        dest="least",
        type=share,
        metavar="P",
        help="fail if the value (rows: the mean) is below P; from 0 (surely wrong) to 1",
    )
    gate.add_argument("--junit", metavar="FILE", help="write the gate here as JUnit XML")
    add_running(check.add_argument_group("common"))
    check.set_defaults(**_defaults_of_score())
    check.set_defaults(options=CheckOptions, run="gistmeter.app.commands.check:run")


def _defaults_of_score() -> dict[str, object]:
    """Return the options of `gistmeter score check`; `check` has no arguments for some of them."""
    parser = Parser()
    add_score(parser.add_subparsers())
    return vars(parser.parse_args(["score", "check"]))
