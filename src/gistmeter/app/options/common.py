"""Options that several commands share."""

from dataclasses import dataclass
from typing import get_args

from gistmeter.app.options.parsing import Group, Parser, language, not_negative, positive
from gistmeter.models.run.runtime import Backend, Dtype


@dataclass(frozen=True, kw_only=True)
class RuntimeOptions:
    """Options that choose models and the way they run."""

    preset: str
    model: str | None
    device: str
    dtype: Dtype
    backend: Backend
    batch_tokens: int | None
    cache_mb: int
    quiet: bool


@dataclass(frozen=True, kw_only=True)
class RunningOptions(RuntimeOptions):
    """Options of the commands that score rows."""

    limit: int | None
    seed: int


@dataclass(frozen=True, kw_only=True)
class MetricOptions(RunningOptions):
    """Options of the commands that score rows with metrics."""

    metrics: tuple[str, ...]
    fields: str
    language: str | None
    dimension: str | None


@dataclass(frozen=True, kw_only=True)
class CacheOptions:
    """Options of the cache of scores."""

    cache: str | None
    cache_size: int


@dataclass(frozen=True, kw_only=True)
class ExistingOutput:
    """Options for an output that already exists."""

    resume: bool
    overwrite: bool


def add_metric_options(parser: Parser, *, nargs: str = "+") -> None:
    """Add the options of `MetricOptions`."""
    parser.add_argument("metrics", metavar="METRIC", nargs=nargs, help="a metric; see below")
    group = parser.add_argument_group("common")
    group.add_argument(
        "--fields", metavar="FIELD=COLUMN,…", default="", help="columns that hold fields under other names"
    )
    group.add_argument(
        "--dimension", metavar="NAME", help="the quality to score (maskeval, sumqe, quality): fluency, …"
    )
    add_language(group)
    add_running(group)


def add_language(group: Group) -> None:
    """Add the language of the rows that name none."""
    group.add_argument(
        "--language",
        type=language,
        metavar="TAG",
        help="language of rows without a field `language`: en, fr, … (default: none)",
    )


def add_running(group: Group) -> None:
    """Add the options of `RunningOptions`."""
    group.add_argument("--limit", type=positive, metavar="N", help="read only the first N rows")
    group.add_argument("--seed", type=not_negative, default=0, help="seed of the bootstrap (default: 0)")
    add_runtime(group)


def add_runtime(group: Group) -> None:
    """Add the options of `RuntimeOptions`."""
    group.add_argument(
        "--preset",
        default="mini",
        help="mini (default, offline), base, paper, …; `gistmeter metrics NAME` lists them",
    )
    group.add_argument("--model", metavar="PATH_OR_ID", help="model folder, or Hub id[@revision]")
    group.add_argument("--device", default="auto", help="auto (default), cpu, cuda, cuda:1, …")
    group.add_argument(
        "--dtype", default="fp32", choices=get_args(Dtype), help="precision; int8 requires OpenVINO"
    )
    add_backend(group)
    group.add_argument(
        "--batch-tokens", type=positive, metavar="N", help="maximum number of tokens per batch"
    )
    group.add_argument(
        "--cache-mb",
        type=not_negative,
        default=256,
        metavar="N",
        help="MB of encoded texts in memory (default: 256)",
    )
    add_output(group, quiet="no progress bars and no notes")


def add_backend(group: Parser | Group) -> None:
    """Add the choice of the library that runs models."""
    group.add_argument(
        "--backend",
        default="auto",
        choices=get_args(Backend),
        help="library that runs models (default: auto)",
    )


def add_output(group: Parser | Group, *, quiet: str) -> None:
    """Add the options that every command has."""
    group.add_argument("--quiet", action="store_true", help=quiet)
    group.add_argument("--debug", action="store_true", help="show a traceback when something fails")


def add_cache(group: Group, *, default: str) -> None:
    """Add the options of `CacheOptions`."""
    group.add_argument(
        "--cache",
        metavar="FILE_OR_FOLDER",
        help=f"cache scores here, so that no text is scored twice (default: {default})",
    )
    group.add_argument(
        "--cache-size",
        type=positive,
        default=2048,
        metavar="MB",
        help="maximum size of the cache; the oldest scores are deleted (default: 2048)",
    )


def add_existing_output(group: Group) -> None:
    """Add the options of `ExistingOutput`."""
    fate = group.add_mutually_exclusive_group()
    fate.add_argument("--resume", action="store_true", help="continue an interrupted run")
    fate.add_argument("--overwrite", action="store_true", help="replace an existing output")
