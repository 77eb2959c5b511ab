"""Options of `gistmeter report`."""

from dataclasses import dataclass

from gistmeter.app.options.common import add_output
from gistmeter.app.options.parsing import Commands, not_negative, positive


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """Options of `gistmeter report`."""

    scores: str
    input: str | None
    output: str
    overwrite: bool
    rows: int
    fields: str
    seed: int


def add_report(commands: Commands) -> None:
    """Add the command."""
    report = commands.add_parser(
        "report",
        help="show scores and texts as one HTML file",
        description="Show scores and the texts they are of as one HTML file, which needs no network.",
    )
    report.add_argument("scores", metavar="SCORES", help="the output of score: jsonl, csv, parquet, .gz")
    report.add_argument("-i", "--input", metavar="FILE", help="the rows that were scored, for their texts")
    report.add_argument("-o", "--output", metavar="FILE", required=True, help="the HTML file")
    report.add_argument("--overwrite", action="store_true", help="replace an output that is there already")
    report.add_argument(
        "--rows", type=positive, default=1000, metavar="N", help="show at most N rows (default: 1000)"
    )
    report.add_argument(
        "--fields", metavar="FIELD=COLUMN,…", default="", help="columns that hold fields under other names"
    )
    report.add_argument("--seed", type=not_negative, default=0, help="seed of the bootstrap (default: 0)")
    add_output(report, quiet="no notes")
    report.set_defaults(options=ReportOptions, run="gistmeter.app.commands.report:run")
