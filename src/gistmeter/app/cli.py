"""Parse the command line, run a command, and convert errors to one line and an exit code."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from importlib.metadata import EntryPoint

from gistmeter.app.config import complete, configure
from gistmeter.app.ends import ended, ending_cleanly, prepare
from gistmeter.app.notes import notes_on_stderr
from gistmeter.app.options.every import parsers
from gistmeter.app.options.parsing import options_from
from gistmeter.core.errors import UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0 ok, 1 failure, 2 usage, 3 bad or missing data, 4 model not available,
        5 a gate failed, 130 interrupted, 143 terminated.
    """
    if not prepare():
        return UsageError.exit_code
    arguments = Namespace(quiet=False, debug=False)
    with ending_cleanly():
        try:
            arguments = parse(argv)
            with notes_on_stderr(quiet=arguments.quiet):
                code = _run(arguments)
            sys.stdout.flush()
            return code
        except (Exception, KeyboardInterrupt) as error:
            if arguments.debug and not isinstance(error, KeyboardInterrupt | BrokenPipeError):
                raise
            return ended(error)


def parse(argv: Sequence[str] | None) -> Namespace:
    """Parse the command line, with defaults from the config file.

    Raises:
        UsageError: If the config file is invalid.
        SystemExit: If the command line is invalid, or asks for help.
    """
    top, commands = parsers()
    configure(commands)
    arguments, unknown = top.parse_known_args(argv)
    if arguments.verbose and not arguments.version:
        top.error("--verbose needs --version")
    if arguments.command is None and not arguments.version:
        top.error("the following arguments are required: COMMAND")
    if unknown:
        commands.get(arguments.command, top).refuse(unknown)
    complete(arguments)
    return arguments


def _run(arguments: Namespace) -> int:
    """Import a command, which may load heavy libraries, and run it with its options."""
    if arguments.version:
        from gistmeter.app.versions import version_text

        sys.stdout.write(version_text(verbose=arguments.verbose))
        return 0
    run = EntryPoint("run", arguments.run, "gistmeter.commands").load()
    code: int = run(options_from(arguments.options, arguments))
    return code


if __name__ == "__main__":
    sys.exit(main())
