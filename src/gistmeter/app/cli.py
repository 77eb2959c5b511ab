"""Parse the command line, run a command, and convert errors to one line and an exit code."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint

from gistmeter import __version__
from gistmeter.app.ends import ended, ending_cleanly, prepare
from gistmeter.app.notes import notes_on_stderr
from gistmeter.app.options.benchmark import add_benchmark
from gistmeter.app.options.compare import add_compare
from gistmeter.app.options.data import add_data
from gistmeter.app.options.models import add_models
from gistmeter.app.options.parsing import Parser, options_from
from gistmeter.app.options.report import add_report
from gistmeter.app.options.reproduce import add_reproduce
from gistmeter.app.options.score import add_score
from gistmeter.app.options.train import add_train
from gistmeter.core.errors import UsageError

COMMANDS = (
    add_score,
    add_compare,
    add_benchmark,
    add_reproduce,
    add_report,
    add_data,
    add_models,
    add_train,
)
"""The functions that add a command, in the order of the help text."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0 ok, 1 failure, 2 usage, 3 bad or missing data, 4 model not available,
        5 a gate failed, 130 interrupted, 143 terminated.
    """
    if not prepare():
        return UsageError.exit_code
    arguments = parser().parse_args(argv)
    with ending_cleanly():
        try:
            with notes_on_stderr(quiet=arguments.quiet):
                code = _run(arguments)
            sys.stdout.flush()
            return code
        except (Exception, KeyboardInterrupt) as error:
            if arguments.debug and not isinstance(error, KeyboardInterrupt | BrokenPipeError):
                raise
            return ended(error)


def _run(arguments: argparse.Namespace) -> int:
    """Import a command, which may load heavy libraries, and run it with its options."""
    run = EntryPoint("run", arguments.run, "gistmeter.commands").load()
    code: int = run(options_from(arguments.options, arguments))
    return code


def parser() -> Parser:
    """Return the parser of all commands."""
    found = Parser(
        prog="gistmeter",
        description="Score summaries and simplifications with published metrics; show where they are wrong.",
        epilog="exit codes: 0 ok, 1 failure, 2 usage, 3 bad or missing data, 4 model not available, "
        "5 a gate failed, 130 interrupted, 143 terminated",
    )
    found.add_argument("--version", action="version", version=f"gistmeter {__version__}")
    commands = found.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in COMMANDS:
        add(commands)
    return found


if __name__ == "__main__":
    sys.exit(main())
