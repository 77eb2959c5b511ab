"""The command `gistmeter data`: list and fetch data sets of human judgements."""

import argparse
import sys

from tabulate import tabulate

from gistmeter.app.specs import note
from gistmeter.bench.datasets.dataset import Dataset, datasets, find
from gistmeter.bench.datasets.fetch import default_folder, fetch, rows_file
from gistmeter.core.errors import UsageError

HEADERS = ("name", "description", "dimensions", "licence", "status")
WIDTHS = (None, 34, 30, 22, None)


def run(arguments: argparse.Namespace) -> int:
    """List data sets, or fetch some and print the file of rows of each."""
    if arguments.action == "list":
        if arguments.names:
            raise UsageError(
                "gistmeter data list takes no names; to fetch a data set: gistmeter data fetch NAME"
            )
        sys.stdout.write(_table() + "\n")
        return 0
    if not arguments.names:
        raise UsageError("name a data set, as in: gistmeter data fetch summeval; see: gistmeter data list")
    for dataset in [find(name) for name in arguments.names]:
        _fetch(dataset, arguments)
    return 0


def _fetch(dataset: Dataset, arguments: argparse.Namespace) -> None:
    found = fetch(dataset, default_folder(), say=lambda text: note(arguments, text))
    for path, digest in found.unknown:
        note(
            arguments,
            f"{dataset.name}: no published checksum for {path.name}; pinned the downloaded file's SHA-256 "
            f"{digest}; please report it",
        )
    for text in (dataset.note, f"licence: {dataset.licence}", f"please cite {dataset.citation}"):
        if text:
            note(arguments, f"{dataset.name}: {text}")
    sys.stdout.write(f"{dataset.name}: {found.rows} rows in {found.path}\n")


def _table() -> str:
    rows = [
        (
            dataset.name,
            dataset.title,
            ", ".join(dimension.name for dimension in dataset.dimensions),
            dataset.licence,
            _state(dataset),
        )
        for dataset in datasets()
    ]
    text = tabulate(rows, HEADERS, "simple", disable_numparse=True, maxcolwidths=list(WIDTHS))
    return "\n".join(line.rstrip() for line in text.splitlines())


def _state(dataset: Dataset) -> str:
    if dataset.superseded_by:
        return f"use {dataset.superseded_by}"
    if rows_file(dataset, default_folder()).is_file():
        return "fetched"
    return "not fetched" if dataset.loader else "manual"
