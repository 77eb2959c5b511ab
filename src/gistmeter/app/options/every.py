"""The parser of the whole command line, with the parser of each command."""

from collections.abc import Mapping

from gistmeter.app.options.benchmark import add_benchmark
from gistmeter.app.options.check import add_check
from gistmeter.app.options.compare import add_compare
from gistmeter.app.options.completion import add_completion
from gistmeter.app.options.data import add_data
from gistmeter.app.options.metrics import add_metrics
from gistmeter.app.options.models import add_models
from gistmeter.app.options.parsing import Parser
from gistmeter.app.options.report import add_report
from gistmeter.app.options.reproduce import add_reproduce
from gistmeter.app.options.score import add_score
from gistmeter.app.options.serve import add_serve
from gistmeter.app.options.train import add_train

COMMANDS = (
    add_check,
    add_score,
    add_compare,
    add_benchmark,
    add_reproduce,
    add_report,
    add_serve,
    add_data,
    add_metrics,
    add_models,
    add_train,
    add_completion,
)
"""The functions that add a command, in the order of the help text."""


def parsers() -> tuple[Parser, Mapping[str, Parser]]:
    """Return the parser of the command line, and those of its commands by name."""
    top = Parser(
        prog="gistmeter",
        description="Score summaries and simplifications with published metrics; show where they are wrong.",
        epilog="exit codes: 0 ok, 1 failure, 2 usage, 3 bad or missing data, 4 model not available, "
        "5 a gate failed, 130 interrupted, 143 terminated",
    )
    top.add_argument("--version", action="store_true", help="print the version")
    top.add_argument(
        "--verbose", action="store_true", help="with --version: also what else a bug report needs"
    )
    top.set_defaults(quiet=False, debug=False)
    commands = top.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for add in COMMANDS:
        add(commands)
    return top, commands.choices
