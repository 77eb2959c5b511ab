"""Options of `gistmeter reproduce`."""

from dataclasses import dataclass

from gistmeter.app.options.common import CacheOptions, RunningOptions, add_cache, add_running
from gistmeter.app.options.parsing import Commands, add_command
from gistmeter.bench.suites.names import SUITE_NAMES


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions(RunningOptions, CacheOptions):
    """Options of `gistmeter reproduce`."""

    suite: str
    metrics: tuple[str, ...]
    data: str
    output: str | None


def add_reproduce(commands: Commands) -> None:
    """Add the command."""
    reproduce = add_command(
        commands,
        "reproduce",
        help="reproduce the papers' tables",
        description="Measure the results in a suite of the papers' tables; write JSON, Markdown and plots.",
    )
    reproduce.add_argument("suite", metavar="SUITE", help=f"{', '.join(SUITE_NAMES)}, or all")
    reproduce.add_argument(
        "--data", metavar="FOLDER", required=True, help="folder of rows with human judgements"
    )
    reproduce.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="folder for JSON, Markdown and plots (default: out/benchmarks)",
    )
    add_cache(reproduce.add_argument_group("cached scores"), default="a file in the user's cache folder")
    reproduce.add_argument("metrics", metavar="METRIC", nargs="*", help="a metric to measure (default: all)")
    add_running(reproduce.add_argument_group("common"))
    reproduce.set_defaults(options=ReproduceOptions, run="gistmeter.app.commands.reproduce:run")
