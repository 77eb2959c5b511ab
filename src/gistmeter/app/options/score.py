"""Options of `gistmeter score`."""

from dataclasses import dataclass

from gistmeter.app.options.common import (
    CacheOptions,
    ExistingOutput,
    MetricOptions,
    add_cache,
    add_existing_output,
    add_metric_options,
)
from gistmeter.app.options.parsing import (
    Commands,
    Group,
    above_zero,
    add_command,
    positive,
    shard,
    share,
)


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """Options that name one pair of texts."""

    candidate: str | None
    candidate_text: str | None
    source: str | None
    source_text: str | None
    reference: tuple[str, ...]
    reference_text: tuple[str, ...]
    language: str | None


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Options that distribute the work."""

    engine: str
    address: str | None
    worker_cpus: float
    workers: int | None
    shard: tuple[int, int] | None


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """Options of the gates."""

    fail_under: tuple[str, ...]
    fail_below_baseline: str | None
    alpha: float
    junit: str | None


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(MetricOptions, CacheOptions, ExistingOutput, PairOptions, EngineOptions, GateOptions):
    """Options of `gistmeter score`."""

    input: str | None
    output: str | None
    spans: str
    explain: bool
    json: str | None
    max_seconds_per_row: float | None


def add_score(commands: Commands) -> None:
    """Add the command."""
    score = add_command(
        commands,
        "score",
        help="score the rows of a file, or one pair of texts",
        description="Score the rows of a file (-i) or one pair of texts.",
    )
    rows = score.add_argument_group("rows")
    add_rows(rows)
    score.add_argument(
        "--explain",
        action="store_true",
        help="print each text sentence by sentence, in colour, with evidence",
    )
    score.add_argument("--json", metavar="FILE", help="write the means here as JSON; - prints it")
    add_pair(score.add_argument_group("one pair"))
    _add_engine(score.add_argument_group("size"))
    _add_gates(score.add_argument_group("gates: exit code 5 if one fails"))
    add_metric_options(score)
    score.set_defaults(options=ScoreOptions, run="gistmeter.app.commands.score:run")


def add_rows(rows: Group) -> None:
    """Add the options of rows that `check` has too."""
    rows.add_argument(
        "-i", "--input", metavar="FILE", help="input: jsonl, csv, tsv, parquet, .gz; - reads jsonl"
    )
    rows.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="output, one line per row and metric: jsonl, csv, parquet, .gz; - prints jsonl",
    )
    add_existing_output(rows)
    add_cache(rows, default="none")
    rows.add_argument(
        "--max-seconds-per-row",
        type=above_zero,
        metavar="N",
        help="time limit per row and metric, checked between batches of a model",
    )
    spans = rows.add_mutually_exclusive_group()
    spans.add_argument(
        "--spans", metavar="WHICH", default="all", help="spans per score: all (default), none or worst=N"
    )
    spans.add_argument(
        "--no-spans", dest="spans", action="store_const", const="none", help="same as --spans none"
    )


def add_pair(pair: Group) -> None:
    """Add the options of `PairOptions`."""
    for side in ("candidate", "source"):
        pair.add_argument(f"--{side}", metavar="FILE", help=f"file with the {side}")
        pair.add_argument(f"--{side}-text", metavar="TEXT", help=f"the {side} as text")
    pair.add_argument(
        "--reference", metavar="FILE", action="append", default=[], help="file with a reference; repeatable"
    )
    pair.add_argument(
        "--reference-text",
        metavar="TEXT",
        action="append",
        default=[],
        help="a reference as text; repeatable",
    )


def _add_engine(group: Group) -> None:
    group.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="local (default): this machine; ray: a cluster, where -i and -o are folders of shards",
    )
    group.add_argument(
        "--address", metavar="ADDRESS", help="address of a Ray cluster, or auto (default: start Ray here)"
    )
    group.add_argument(
        "--worker-cpus",
        type=above_zero,
        default=0.5,
        metavar="N",
        help="CPUs per Ray worker (default: 0.5)",
    )
    group.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="score with N processes (default: one; one per device of --device cuda:0,cuda:1)",
    )
    group.add_argument(
        "--shard", type=shard, metavar="I/N", help="score only the I-th of N equal parts of the file"
    )


def _add_gates(group: Group) -> None:
    group.add_argument(
        "--fail-under",
        metavar="METRIC=MEAN",
        action="append",
        default=[],
        help="fail if the mean is below; may be repeated",
    )
    group.add_argument(
        "--fail-below-baseline",
        metavar="SCORES",
        help="fail if a metric fell from these scores, which score -o wrote: one-sided test by document",
    )
    group.add_argument(
        "--alpha",
        type=share,
        default=0.05,
        metavar="P",
        help="significance level of the baseline test (default: 0.05)",
    )
    group.add_argument("--junit", metavar="FILE", help="write the gates here as JUnit XML")
