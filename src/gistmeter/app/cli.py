"""The command line: parses, calls, and turns errors into one line and an exit code."""

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
DTYPES = ("fp32", "bf16", "int8")
Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0 ok, 1 failure, 2 usage, 3 bad or missing data, 4 model not available,
        130 interrupted, 143 terminated.
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
        """Say what is wrong without escapes that words of the command line may hold."""
        super().error(plain(message))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="gistmeter",
        description="Judge summaries and simplifications as people would, and show where they are wrong.",
        epilog="exit codes: 0 ok, 1 failure, 2 usage, 3 bad or missing data, 4 model not available, "
        "130 interrupted, 143 terminated",
    )
    parser.add_argument("--version", action="version", version=f"gistmeter {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_score(commands)
    _add_benchmark(commands)
    _add_reproduce(commands)
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
        help="score rows of a file, or one pair of texts",
        description="Score rows of a file (-i) or one pair of texts.",
    )
    rows = score.add_argument_group("rows")
    rows.add_argument("-i", "--input", metavar="FILE", help="jsonl, csv, tsv, parquet, .gz; - reads jsonl")
    rows.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="jsonl, csv, parquet, .gz: a line a row and metric; - prints jsonl",
    )
    _add_fate(rows)
    _add_cache(rows, default="none")
    spans = rows.add_mutually_exclusive_group()
    spans.add_argument(
        "--spans", metavar="WHICH", default="all", help="all (default), none or worst=N a score"
    )
    spans.add_argument("--no-spans", dest="spans", action="store_const", const="none", help="as --spans none")
    pair = score.add_argument_group("one pair")
    for side in ("candidate", "source"):
        pair.add_argument(f"--{side}", metavar="FILE", help=f"a file with the {side}")
        pair.add_argument(f"--{side}-text", metavar="TEXT", help=f"the {side} itself")
    pair.add_argument("--reference", metavar="FILE", action="append", default=[], help="may be repeated")
    pair.add_argument("--reference-text", metavar="TEXT", action="append", default=[], help="may be repeated")
    rows.add_argument(
        "--max-seconds-per-row",
        type=_seconds,
        metavar="N",
        help="give up on a row that takes a metric longer (checked between batches of a model)",
    )
    _add_common(score)
    score.set_defaults(run=_run_score)


def _add_fate(group: argparse._ArgumentGroup) -> None:
    """Add what becomes of an output that is there already."""
    fate = group.add_mutually_exclusive_group()
    fate.add_argument("--resume", action="store_true", help="go on after the rows of a run that was stopped")
    fate.add_argument("--overwrite", action="store_true", help="replace an output that is there already")


def _add_cache(group: argparse._ArgumentGroup, *, default: str) -> None:
    """Add where scores are kept."""
    group.add_argument(
        "--cache",
        metavar="FILE_OR_FOLDER",
        help=f"keep scores here, and score no text twice (default: {default})",
    )
    group.add_argument(
        "--cache-size", type=_positive, default=2048, metavar="MB", help="then the oldest go (default: 2048)"
    )


def _add_benchmark(commands: Commands) -> None:
    benchmark = _add_command(
        commands,
        "benchmark",
        help="correlate metrics with human judgements",
        description="Correlate metrics with the human judgements in rows' `scores`.",
    )
    benchmark.add_argument("--data", metavar="FILE_OR_DIR", required=True, help="rows with human scores")
    benchmark.add_argument(
        "--scores",
        metavar="FILE",
        action="append",
        default=[],
        help="csv or jsonl with id and columns of numbers, each a metric of your own; may be repeated",
    )
    benchmark.add_argument(
        "--compare",
        metavar="LEVEL",
        nargs="?",
        const="pooled",
        type=level_name,
        choices=LEVELS,
        help="also test every two metrics against each other at this level (default: pooled);"
        " --json OUT.json writes the differences to OUT.pairs.json",
    )
    benchmark.add_argument("--json", metavar="FILE", help="write all figures here")
    _add_fate(benchmark.add_argument_group("an output that is there already"))
    _add_cache(benchmark.add_argument_group("kept scores"), default="none")
    for names in (("--suite",), ("--output", "-o")):  # of `reproduce`, before it was a command
        benchmark.add_argument(*names, help=argparse.SUPPRESS)
    _add_common(benchmark, metrics="*")
    benchmark.set_defaults(run=_run_benchmark)


def _add_reproduce(commands: Commands) -> None:
    reproduce = _add_command(
        commands,
        "reproduce",
        help="put the papers' tables beside what is measured",
        description="Measure what a suite of papers' tables compares; write JSON, Markdown and pictures.",
    )
    reproduce.add_argument("suite", metavar="SUITE", help=f"{', '.join(SUITE_NAMES)}, or all")
    reproduce.add_argument("--data", metavar="FOLDER", required=True, help="files of rows with human scores")
    reproduce.add_argument(
        "-o", "--output", metavar="FOLDER", help="JSON, Markdown and pictures go here (out/benchmarks)"
    )
    _add_cache(reproduce.add_argument_group("kept scores"), default="a file in the user's cache")
    _add_common(reproduce, metrics="*")
    reproduce.set_defaults(run=_run_reproduce)


def _add_data(commands: Commands) -> None:
    data = commands.add_parser(
        "data",
        help="list or fetch human judgements",
        description="List the sets of human judgements that are known, or fetch some from their authors.",
    )
    data.add_argument("action", nargs="?", choices=["list", "fetch"], default="list", help="list (default)")
    data.add_argument("names", nargs="*", metavar="NAME", help="what to fetch")
    data.add_argument("--quiet", action="store_true", help="no notes")
    data.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    data.set_defaults(run=_run_data)


def _add_models(commands: Commands) -> None:
    models = commands.add_parser(
        "models",
        help="list, verify or fetch models",
        description="List the models at hand, verify their files, or fetch the model of a preset.",
    )
    models.add_argument(
        "action", nargs="?", choices=["list", "verify", "fetch"], default="list", help="list (default)"
    )
    models.add_argument("name", nargs="?", metavar="PRESET", help="with fetch: base")
    models.add_argument(
        "--from", dest="origin", metavar="FOLDER_OR_URL", help="with fetch: its files (default: the Hub)"
    )
    models.add_argument(
        "--dtype", choices=DTYPES[1:], help="with verify: print the share of predictions that change"
    )
    models.add_argument(
        "--backend", default="auto", choices=BACKENDS, help="what runs models (default: auto)"
    )
    models.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    models.set_defaults(run=_run_models)


def _add_train(commands: Commands) -> None:
    train = commands.add_parser(
        "train",
        help="train a model by a recipe",
        description="Train a model by a recipe. The same command again goes on where a run was stopped.",
        epilog=f"tasks of recipes: {', '.join(TASKS)}",
    )
    train.add_argument("recipe", metavar="RECIPE.toml", help="see the folder recipes")
    train.add_argument("--data", metavar="FOLDER", help="where its files are (default: its data.folder)")
    train.add_argument("--output", metavar="FOLDER", help="where everything goes (default: out/RECIPE)")
    train.add_argument("--steps", type=_positive, metavar="N", help="fewer steps than the recipe's: a trial")
    train.add_argument("--quiet", action="store_true", help="no progress bars and no notes")
    train.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    train.set_defaults(run=_run_train)


def _add_common(parser: argparse.ArgumentParser, *, metrics: str = "+") -> None:
    parser.add_argument("metrics", metavar="METRIC", nargs=metrics, help="a metric, see below")
    group = parser.add_argument_group("common")
    group.add_argument("--fields", metavar="OURS=YOURS,…", default="", help="other names of columns")
    group.add_argument("--limit", type=_positive, metavar="N", help="read only the first N rows")
    group.add_argument("--preset", default="mini", help="mini (default, offline), paper, or a metric's own")
    group.add_argument("--model", metavar="PATH_OR_ID", help="a folder, or a Hub id[@revision]")
    group.add_argument("--dimension", metavar="NAME", help="the quality asked for (maskeval): fluency, …")
    group.add_argument("--device", default="auto", help="auto (default), cpu, cuda, cuda:1, …")
    group.add_argument("--dtype", default="fp32", choices=DTYPES, help="precision; int8 is OpenVINO's")
    group.add_argument("--backend", default="auto", choices=BACKENDS, help="what runs models (default: auto)")
    group.add_argument("--batch-tokens", type=_positive, metavar="N", help="tokens through a model at once")
    group.add_argument(
        "--cache-mb", type=_not_negative, default=256, metavar="N", help="of encoded texts kept"
    )
    group.add_argument("--seed", type=_not_negative, default=0, help="of the bootstrap")
    group.add_argument("--quiet", action="store_true", help="no progress bars and no notes")
    group.add_argument("--debug", action="store_true", help="show a traceback when something fails")


def _positive(text: str) -> int:
    number = _not_negative(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not above 0")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds above 0")
    return number


def _not_negative(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{plain(text, 40)!r} is not a whole number of at least 0")
    return int(text) if len(text) < DIGITS else sys.maxsize  # no file has more rows, no machine more memory


def _run_score(arguments: argparse.Namespace) -> int:
    from gistmeter.app.commands.score import run

    return run(arguments)


def _run_benchmark(arguments: argparse.Namespace) -> int:
    if arguments.suite or arguments.output:
        raise UsageError("suites have a command: gistmeter reproduce SUITE --data FOLDER -o FOLDER")
    from gistmeter.app.commands.benchmark import run

    return run(arguments)


def _run_reproduce(arguments: argparse.Namespace) -> int:
    from gistmeter.app.commands.reproduce import run

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
