"""Options of `gistmeter compare`."""

from dataclasses import dataclass
from typing import get_args

from gistmeter.app.options.common import add_output
from gistmeter.app.options.parsing import Commands, not_negative
from gistmeter.report.formats import Format


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Options of `gistmeter compare`."""

    scores: tuple[str, ...]
    system: tuple[str, ...]
    by: str
    format: Format
    plot: str | None
    seed: int


def add_compare(commands: Commands) -> None:
    """Add the command."""
    compare = commands.add_parser(
        "compare",
        help="test whether one system scores higher than another",
        description="Compare systems by their scores: means, differences with intervals, tests by document.",
    )
    compare.add_argument(
        "scores", metavar="SCORES", nargs="+", help="what score -o wrote: one file, or one per system"
    )
    compare.add_argument(
        "--system", metavar="NAME", action="append", default=[], help="compare only these; may be repeated"
    )
    compare.add_argument(
        "--by",
        metavar="COLUMN",
        default="system",
        help="what names a system: system (default), file, or another column of the scores",
    )
    compare.add_argument(
        "--format", default="text", choices=get_args(Format), help="output format (default: text)"
    )
    compare.add_argument("--plot", metavar="FILE", help="draw the means and their intervals here: a PNG")
    compare.add_argument(
        "--seed", type=not_negative, default=0, help="seed of bootstrap and permutation test (default: 0)"
    )
    add_output(compare, quiet="no notes")
    compare.set_defaults(options=CompareOptions, run="gistmeter.app.commands.compare:run")
