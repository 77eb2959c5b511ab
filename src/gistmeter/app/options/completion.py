"""Options of `gistmeter completion`."""

from dataclasses import dataclass
from typing import Literal, get_args

from gistmeter.app.options.common import add_output
from gistmeter.app.options.parsing import Commands

Shell = Literal["bash", "zsh", "fish"]


@dataclass(frozen=True, kw_only=True)
class CompletionOptions:
    """Options of `gistmeter completion`."""

    shell: Shell


def add_completion(commands: Commands) -> None:
    """Add the command."""
    completion = commands.add_parser(
        "completion",
        help="print a script that completes commands in a shell",
        description="Print a script that completes commands, options and metrics. "
        'For bash, add to ~/.bashrc: eval "$(gistmeter completion bash)"',
    )
    completion.add_argument("shell", metavar="SHELL", choices=get_args(Shell), help="bash, zsh or fish")
    add_output(completion, quiet="no notes")
    completion.set_defaults(options=CompletionOptions, run="gistmeter.app.commands.completion:run")
