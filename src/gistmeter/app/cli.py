"""Parse the command line, run a command, and convert errors to one line and an exit code."""

import argparse
import math
import sys
from collections.abc import Sequence
from typing import NoReturn, TypeAlias

from gistmeter import __version__
from gistmeter.app.ends import ended, ending_cleanly, prepare
from gistmeter.app.notes import notes_on_stderr
from gistmeter.app.specs import METRIC_HELP
from gistmeter.bench.suites.render import SUITE_NAMES
from gistmeter.catalog import TASKS
from gistmeter.core.errors import UsageError
from gistmeter.core.levels import LEVELS, level_name
from gistmeter.report.plain import plain

DIGITS = 19
BACKENDS = ("auto", "torch", "openvino")
FORMATS = ("text", "markdown", "latex", "json", "html")
DTYPES = ("fp32", "bf16", "int8")
Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0 ok, 1 failure, 2 usage, 3 bad or missing data, 4 model not available,
        5 a gate failed, 130 interrupted, 143 terminated.
    """
    if not prepare():
        return UsageError.exit_code
    arguments = _parser().parse_args(argv)
    with ending_cleanly():
        try:
            with notes_on_stderr(quiet=getattr(arguments, "quiet", False)):
                code: int = arguments.run(arguments)
            sys.stdout.flush()
            return code
        except (Exception, KeyboardInterrupt) as error:
            if arguments.debug and not isinstance(error, KeyboardInterrupt | BrokenPipeError):
                raise
            return ended(error)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Print a usage error without escape sequences from the arguments."""
        super().error(plain(message))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="gistmeter",
        description="Score summaries and simplifications with published metrics; show where they are wrong.",
        epilog="exit codes: 0 ok, 1 failure, 2 usage, 3 bad or missing data, 4 model not available, "
        "5 a gate failed, 130 interrupted, 143 terminated",
    )
    parser.add_argument("--version", action="version", version=f"gistmeter {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_score(commands)
    _add_compare(commands)
    _add_benchmark(commands)
    _add_reproduce(commands)
    _add_report(commands)
    _add_serve(commands)
    _add_data(commands)
    _add_models(commands)
    _add_train(commands)
    return parser


def _add_command(commands: Commands, name: str, *, help: str, description: str) -> argparse.ArgumentParser:
    """Add a command whose help lists the metrics."""
    return commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=METRIC_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_score(commands: Commands) -> None:
    score = _add_command(
        commands,
        "score",
        help="score the rows of a file, or one pair of texts",
        description="Score the rows of a file (-i) or one pair of texts.",
    )
    rows = score.add_argument_group("rows")
    rows.add_argument(
        "-i", "--input", metavar="FILE", help="input: jsonl, csv, tsv, parquet, .gz; - reads jsonl"
    )
    rows.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="output, one line per row and metric: jsonl, csv, parquet, .gz; - prints jsonl",
    )
    _add_fate(rows)
    _add_cache(rows, default="none")
    spans = rows.add_mutually_exclusive_group()
    spans.add_argument(
        "--spans", metavar="WHICH", default="all", help="spans per score: all (default), none or worst=N"
    )
    spans.add_argument(
        "--no-spans", dest="spans", action="store_const", const="none", help="same as --spans none"
    )
    score.add_argument(
        "--explain",
        action="store_true",
        help="print each text sentence by sentence, in colour, with evidence",
    )
    pair = score.add_argument_group("one pair")
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
    rows.add_argument(
        "--max-seconds-per-row",
        type=_above_zero,
        metavar="N",
        help="time limit per row and metric, checked between batches of a model",
    )
    _add_engine(score.add_argument_group("size"))
    _add_gates(score.add_argument_group("gates: exit code 5 if one fails"))
    _add_common(score)
    score.set_defaults(run=_run_score)


def _add_engine(group: argparse._ArgumentGroup) -> None:
    """Add what spreads the work."""
    group.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="local (default): this machine; ray: a cluster, where -i and -o are folders of shards",
    )
    group.add_argument(
        "--address", metavar="ADDRESS", help="of a Ray cluster, or auto (default: start Ray here)"
    )
    group.add_argument(
        "--worker-cpus",
        type=_above_zero,
        default=0.5,
        metavar="N",
        help="of each worker on Ray (default: 0.5)",
    )
    group.add_argument(
        "--workers",
        type=_positive,
        metavar="N",
        help="score with N processes (default: one; one a device of --device cuda:0,cuda:1)",
    )
    group.add_argument(
        "--shard", type=_shard, metavar="I/N", help="score only the I-th of N equal parts of the file"
    )


def _add_fate(group: argparse._ArgumentGroup) -> None:
    """Add the options for an output that already exists."""
    fate = group.add_mutually_exclusive_group()
    fate.add_argument("--resume", action="store_true", help="continue an interrupted run")
    fate.add_argument("--overwrite", action="store_true", help="replace an existing output")


def _add_gates(group: argparse._ArgumentGroup) -> None:
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
    group.add_argument("--alpha", type=_share, default=0.05, metavar="P", help="of that test (default: 0.05)")
    group.add_argument("--junit", metavar="FILE", help="write the gates here as JUnit XML")


def _add_cache(group: argparse._ArgumentGroup, *, default: str) -> None:
    """Add the options for the cache of scores."""
    group.add_argument(
        "--cache",
        metavar="FILE_OR_FOLDER",
        help=f"cache scores here, so that no text is scored twice (default: {default})",
    )
    group.add_argument(
        "--cache-size",
        type=_positive,
        default=2048,
        metavar="MB",
        help="maximum size of the cache; the oldest scores are deleted (default: 2048)",
    )


def _add_benchmark(commands: Commands) -> None:
    benchmark = _add_command(
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
    _add_fate(benchmark.add_argument_group("existing output"))
    _add_cache(benchmark.add_argument_group("cached scores"), default="none")
    for names in (("--suite",), ("--output", "-o")):  # old options, now of `reproduce`
        benchmark.add_argument(*names, help=argparse.SUPPRESS)
    _add_common(benchmark, metrics="*")
    benchmark.set_defaults(run=_run_benchmark)


def _add_compare(commands: Commands) -> None:
    compare = commands.add_parser(
        "compare",
        help="test whether one system scores higher than another",
        description="Compare systems by their scores: means, differences with intervals, tests by document.",
    )
    compare.add_argument(
        "scores", metavar="SCORES", nargs="+", help="what score -o wrote: one file, or one a system"
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
    compare.add_argument("--format", default="text", choices=FORMATS, help="of the output (default: text)")
    compare.add_argument("--plot", metavar="FILE", help="draw the means and their intervals here: a PNG")
    compare.add_argument("--seed", type=_not_negative, default=0, help="of bootstrap and permutation test")
    compare.add_argument("--quiet", action="store_true", help="no notes")
    compare.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    compare.set_defaults(run=_run_compare)


def _add_reproduce(commands: Commands) -> None:
    reproduce = _add_command(
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
    _add_cache(reproduce.add_argument_group("cached scores"), default="a file in the user's cache folder")
    reproduce.add_argument("metrics", metavar="METRIC", nargs="*", help="a metric to measure (default: all)")
    _add_running(reproduce.add_argument_group("common"))
    reproduce.set_defaults(run=_run_reproduce)


def _add_report(commands: Commands) -> None:
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
        "--rows", type=_positive, default=1000, metavar="N", help="show at most N rows (default: 1000)"
    )
    report.add_argument("--fields", metavar="OURS=YOURS,…", default="", help="other names of columns")
    report.add_argument("--seed", type=_not_negative, default=0, help="of the bootstrap")
    report.add_argument("--quiet", action="store_true", help="no notes")
    report.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    report.set_defaults(run=_run_report)


def _add_serve(commands: Commands) -> None:
    serve = _add_command(
        commands,
        "serve",
        help="serve a page and an HTTP service that score texts",
        description="Serve a page and an HTTP service that score texts, until interrupted.",
    )
    where = serve.add_argument_group("access")
    where.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    where.add_argument(
        "--port", type=_not_negative, default=8765, metavar="N", help="0 for any (default: 8765)"
    )
    where.add_argument(
        "--token-file",
        metavar="FILE",
        help="file with the token that clients must send; required if --host lets other machines in",
    )
    limits = serve.add_argument_group("limits")
    for name, default, help in (
        ("body-mb", 16, "megabytes of a request's body"),
        ("rows", 1_000, "rows of a JSON body; NDJSON has no such limit"),
        ("characters", 200_000, "characters of a row's texts"),
        ("waiting", 10_000, "scores that wait over all requests"),
    ):
        limits.add_argument(
            f"--max-{name}", type=_positive, default=default, metavar="N", help=f"{help} (default: {default})"
        )
    for name, default, help in (
        ("seconds", 120, "time limit of a request"),
        ("seconds-per-row", 30, "time limit per row and metric"),
    ):
        limits.add_argument(
            f"--max-{name}",
            type=_above_zero,
            default=default,
            metavar="N",
            help=f"{help} (default: {default})",
        )
    serve.add_argument("metrics", metavar="METRIC", nargs="*", help="a metric; see below")
    common = serve.add_argument_group("common")
    common.add_argument("--dimension", metavar="NAME", help="the quality to score (maskeval, sumqe)")
    _add_runtime(common)
    serve.set_defaults(run=_run_serve)


def _add_data(commands: Commands) -> None:
    data = commands.add_parser(
        "data",
        help="list or fetch data sets of human judgements",
        description="List the known data sets of human judgements, or download them from their authors.",
    )
    data.add_argument("action", nargs="?", choices=["list", "fetch"], default="list", help="list (default)")
    data.add_argument("names", nargs="*", metavar="NAME", help="data sets to fetch")
    data.add_argument("--quiet", action="store_true", help="show no notes")
    data.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    data.set_defaults(run=_run_data)


def _add_models(commands: Commands) -> None:
    models = commands.add_parser(
        "models",
        help="list, verify or fetch models",
        description="List the available models, verify their files, or download the model of a preset.",
    )
    models.add_argument(
        "action", nargs="?", choices=["list", "verify", "fetch"], default="list", help="list (default)"
    )
    models.add_argument("name", nargs="?", metavar="PRESET", help="with fetch: the preset, base")
    models.add_argument(
        "--from",
        dest="origin",
        metavar="FOLDER_OR_URL",
        help="with fetch: the source of the files (default: the Hugging Face Hub)",
    )
    models.add_argument(
        "--dtype",
        choices=DTYPES[1:],
        help="with verify: also print the share of predictions that this precision changes",
    )
    models.add_argument(
        "--backend", default="auto", choices=BACKENDS, help="library that runs models (default: auto)"
    )
    models.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    models.set_defaults(run=_run_models)


def _add_train(commands: Commands) -> None:
    train = commands.add_parser(
        "train",
        help="train a model by a recipe",
        description="Train a model by a recipe. To resume an interrupted run, run the same command again.",
        epilog=f"tasks of recipes: {', '.join(TASKS)}",
    )
    train.add_argument("recipe", metavar="RECIPE.toml", help="a recipe; see the folder recipes")
    train.add_argument(
        "--data", metavar="FOLDER", help="folder of the data files (default: data.folder in the recipe)"
    )
    train.add_argument("--output", metavar="FOLDER", help="folder for the results (default: out/RECIPE)")
    train.add_argument("--steps", type=_positive, metavar="N", help="number of steps, for a trial run")
    train.add_argument("--quiet", action="store_true", help="no progress bars and no notes")
    train.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    train.set_defaults(run=_run_train)


def _add_common(parser: argparse.ArgumentParser, *, metrics: str = "+") -> None:
    parser.add_argument("metrics", metavar="METRIC", nargs=metrics, help="a metric; see below")
    group = parser.add_argument_group("common")
    group.add_argument(
        "--fields", metavar="FIELD=COLUMN,…", default="", help="columns that hold fields under other names"
    )
    group.add_argument(
        "--dimension", metavar="NAME", help="the quality to score (maskeval, sumqe): fluency, …"
    )
    _add_running(group)


def _add_running(group: argparse._ArgumentGroup) -> None:
    """Add the options that choose models and the way they run."""
    group.add_argument("--limit", type=_positive, metavar="N", help="read only the first N rows")
    group.add_argument("--seed", type=_not_negative, default=0, help="seed of the bootstrap (default: 0)")
    _add_runtime(group)


def _add_runtime(group: argparse._ArgumentGroup) -> None:
    """Add the options of models, and of what is printed."""
    group.add_argument(
        "--preset", default="mini", help="mini (default, offline), paper, or another of the metric"
    )
    group.add_argument("--model", metavar="PATH_OR_ID", help="model folder, or Hub id[@revision]")
    group.add_argument("--device", default="auto", help="auto (default), cpu, cuda, cuda:1, …")
    group.add_argument("--dtype", default="fp32", choices=DTYPES, help="precision; int8 requires OpenVINO")
    group.add_argument(
        "--backend", default="auto", choices=BACKENDS, help="library that runs models (default: auto)"
    )
    group.add_argument(
        "--batch-tokens", type=_positive, metavar="N", help="maximum number of tokens per batch"
    )
    group.add_argument(
        "--cache-mb",
        type=_not_negative,
        default=256,
        metavar="N",
        help="MB of encoded texts in memory (default: 256)",
    )
    group.add_argument("--quiet", action="store_true", help="no progress bars and no notes")
    group.add_argument("--debug", action="store_true", help="show a traceback when something fails")


def _positive(text: str) -> int:
    number = _not_negative(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not above 0; give at least 1")
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number


def _shard(text: str) -> tuple[int, int]:
    first, _, last = text.partition("/")
    number, count = _positive(first), _positive(last)
    if number > count:
        raise argparse.ArgumentTypeError(f"{plain(text, 40)}: there are only {count} parts; write 1/{count}")
    return number, count


def _above_zero(text: str) -> float:
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return number


def _not_negative(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{plain(text, 40)!r} is not a whole number of at least 0")
    return int(text) if len(text) < DIGITS else sys.maxsize  # no file has more rows, no machine more memory


def _run_score(arguments: argparse.Namespace) -> int:
    if arguments.engine == "ray":
        from gistmeter.app.commands.score_shards import run as run_shards

        return run_shards(arguments)
    from gistmeter.app.commands.score import run

    return run(arguments)


def _run_benchmark(arguments: argparse.Namespace) -> int:
    if arguments.suite or arguments.output:
        raise UsageError("to run a suite, use: gistmeter reproduce SUITE --data FOLDER -o FOLDER")
    from gistmeter.app.commands.benchmark import run

    return run(arguments)


def _run_compare(arguments: argparse.Namespace) -> int:
    from gistmeter.app.commands.compare import run

    return run(arguments)


def _run_reproduce(arguments: argparse.Namespace) -> int:
    from gistmeter.app.commands.reproduce import run

    return run(arguments)


def _run_report(arguments: argparse.Namespace) -> int:
    from gistmeter.app.commands.report import run

    return run(arguments)


def _run_serve(arguments: argparse.Namespace) -> int:
    from gistmeter.app.commands.serve import run

    return run(arguments)


def _run_data(arguments: argparse.Namespace) -> int:
    from gistmeter.app.commands.data import run

    return run(arguments)


def _run_models(arguments: argparse.Namespace) -> int:
    from gistmeter.app.commands.models import run

    return run(arguments)


def _run_train(arguments: argparse.Namespace) -> int:
    from gistmeter.app.commands.train import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
