"""The command `gistmeter completion`: print a script that completes commands in a shell."""

import sys
from collections.abc import Iterator, Mapping
from shlex import quote

from gistmeter import catalog
from gistmeter.app.options.completion import CompletionOptions
from gistmeter.app.options.every import parsers
from gistmeter.app.options.parsing import Action, Parser

BASH = """\
_gistmeter() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
    local names="" options="" files=yes
    case "$command" in
{commands}
    esac
    case "$command $before" in
{choices}
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W {all} -- "$word"))
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    else
        COMPREPLY=($(compgen -W "$names" -- "$word"))
        if [ -n "$files" ] && [[ -z $names || $before == -* ]]; then
            COMPREPLY+=($(compgen -f -- "$word"))
        fi
    fi
}}
complete -o filenames -F _gistmeter gistmeter
"""


def run(options: CompletionOptions) -> int:
    """Print the script of a shell."""
    _, commands = parsers()
    if options.shell == "fish":
        sys.stdout.write("".join(f"{line}\n" for line in _fish(commands)))
        return 0
    if options.shell == "zsh":
        sys.stdout.write("autoload -U +X bashcompinit && bashcompinit\n")
    sys.stdout.write(_bash(commands))
    return 0


def _bash(commands: Mapping[str, Parser]) -> str:
    cases, choices = [], []
    for name, parser in commands.items():
        found = parser.named_options()
        words = f"options={quote(' '.join(found))} names={quote(' '.join(_names(parser)))}"
        cases.append(f"        {name}) {words} ;;")
        for option, action in found.items():
            if action.choices:
                values = quote(" ".join(map(str, action.choices)))
                choices.append(f'        "{name} {option}") options="" files="" names={values} ;;')
    return BASH.format(commands="\n".join(cases), choices="\n".join(choices), all=quote(" ".join(commands)))


def _fish(commands: Mapping[str, Parser]) -> Iterator[str]:
    for name, parser in commands.items():
        yield f"complete -c gistmeter -n __fish_use_subcommand -a {name} -d {quote(parser.description or '')}"
        inside = f"complete -c gistmeter -n {quote(f'__fish_seen_subcommand_from {name}')}"
        if names := _names(parser):
            yield f"{inside} -a {quote(' '.join(names))}"
        for option, action in parser.named_options().items():
            yield f"{inside} {_fish_option(option, action)}"


def _fish_option(option: str, action: Action) -> str:
    kind = "-l" if option.startswith("--") else "-s"
    values = f" -x -a {quote(' '.join(map(str, action.choices)))}" if action.choices else ""
    takes = "" if action.nargs == 0 or values else " -r"
    return f"{kind} {option.lstrip('-')}{values}{takes} -d {quote(action.help or '')}"


def _names(parser: Parser) -> list[str]:
    """Return the words that a command takes without an option."""
    found: list[str] = []
    for action in parser.positionals():
        found += map(str, action.choices or ())
        found += [*catalog.names(), catalog.ALL] if action.dest == "metrics" else []
    return found
