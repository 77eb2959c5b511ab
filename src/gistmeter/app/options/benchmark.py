"""Options of `gistmeter benchmark`."""

import argparse
from dataclasses import dataclass

from gistmeter.app.options.common import (
    CacheOptions,
    ExistingOutput,
    MetricOptions,
    add_cache,
    add_existing_output,
    add_metric_options,
)
from gistmeter.app.options.parsing import Commands, add_command
from gistmeter.core.levels import LEVELS, Level, level_name


@dataclass(frozen=True, kw_only=True)
class BenchmarkOptions(MetricOptions, CacheOptions, ExistingOutput):
    """Options of `gistmeter benchmark`."""

    data: str
    scores: tuple[str, ...]
    compare: Level | None
    json: str | None
    suite: str | None
    output: str | None


def add_benchmark(commands: Commands) -> None:
    """Add the command."""
    benchmark = add_command(
        commands,
        "benchmark",
        help="correlate metrics with human judgements",
        description="Correlate metrics with the human judgements in the field `scores` of the rows.",
    )
    benchmark.add_argument("--data", metavar="FILE_OR_DIR", required=True, help="rows with human judgements")
    benchmark.add_argument(
        "--scores",
        metavar="FILE",
        action="append",
        default=[],
        help="csv, tsv or jsonl with ids and columns of your own scores; repeatable",
    )
    benchmark.add_argument(
        "--compare",
        metavar="LEVEL",
        nargs="?",
        const="pooled",
        type=level_name,
        choices=LEVELS,
        help="also test the difference between each pair of metrics at this level (default: pooled);"
        " --json OUT.json writes it to OUT.pairs.json",
    )
    benchmark.add_argument("--json", metavar="FILE", help="write all correlations here")
    add_existing_output(benchmark.add_argument_group("existing output"))
    add_cache(benchmark.add_argument_group("cached scores"), default="none")
    # The former spelling of `gistmeter reproduce`.
    for names in (("--suite",), ("--output", "-o")):
        benchmark.add_argument(*names, help=argparse.SUPPRESS)
    add_metric_options(benchmark, nargs="*")
    benchmark.set_defaults(options=BenchmarkOptions, run="gistmeter.app.commands.benchmark:run")
