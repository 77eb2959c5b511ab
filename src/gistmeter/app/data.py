"""`gistmeter data`: the human judgements that are known, and how to come by them."""

import argparse
import sys

from tabulate import tabulate

from gistmeter.app.specs import note
from gistmeter.bench.datasets import default_folder, fetch, rows_file
from gistmeter.bench.tasks import Task, find, tasks
from gistmeter.core.errors import UsageError

HEADERS = ("name", "what", "dimensions", "licence", "data")
WIDTHS = (None, 34, 30, 22, None)


def run(arguments: argparse.Namespace) -> int:
    """List the tasks, or fetch some; a line a task that was fetched names its file of rows."""
    if arguments.action == "list":
        if arguments.names:
            raise UsageError("gistmeter data list takes no names; to fetch: gistmeter data fetch NAME")
        sys.stdout.write(_table() + "\n")
        return 0
    if not arguments.names:
        raise UsageError("name what to fetch, as in: gistmeter data fetch summeval; see: gistmeter data list")
    for task in [find(name) for name in arguments.names]:
        _fetch(task, arguments)
    return 0


def _fetch(task: Task, arguments: argparse.Namespace) -> None:
    found = fetch(task, default_folder(), say=lambda text: note(arguments, text))
    for path, digest in found.unknown:
        note(
            arguments,
            f"{task.name}: nobody has told us the SHA-256 of {path.name}, so it was not checked; it is "
            f"{digest}, and from now on only that file will do; please report it",
        )
    for text in (task.note, f"licence: {task.licence}", f"please cite {task.citation}"):
        if text:
            note(arguments, f"{task.name}: {text}")
    sys.stdout.write(f"{task.name}: {found.rows} rows in {found.path}\n")


def _table() -> str:
    rows = [
        (
            task.name,
            task.title,
            ", ".join(dimension.name for dimension in task.dimensions),
            task.licence,
            _state(task),
        )
        for task in tasks()
    ]
    text = tabulate(rows, HEADERS, "simple", disable_numparse=True, maxcolwidths=list(WIDTHS))
    return "\n".join(line.rstrip() for line in text.splitlines())


def _state(task: Task) -> str:
    if task.superseded_by:
        return f"use {task.superseded_by}"
    if rows_file(task, default_folder()).is_file():
        return "here"
    return "to fetch" if task.reader else "by hand"
