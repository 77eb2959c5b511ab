"""The command `gistmeter data`: list and fetch data sets of human judgements."""

import logging
import sys

from tabulate import tabulate

from gistmeter.app.options.data import DataOptions
from gistmeter.bench.datasets.dataset import Dataset, datasets, find
from gistmeter.bench.datasets.fetch import default_folder, fetch, rows_file
from gistmeter.core.errors import UsageError

LOG = logging.getLogger("gistmeter")
HEADERS = ("name", "description", "dimensions", "licence", "status")
WIDTHS = (None, 34, 30, 22, None)


def run(options: DataOptions) -> int:
    """List data sets, or fetch some and print the file of rows of each."""
    if options.action == "list":
        if options.names:
            raise UsageError(
                "gistmeter data list takes no names; to fetch a data set: gistmeter data fetch NAME"
            )
        sys.stdout.write(_table() + "\n")
        return 0
    if not options.names:
        raise UsageError("name a data set, as in: gistmeter data fetch summeval; see: gistmeter data list")
    for dataset in [find(name) for name in options.names]:
        _fetch(dataset, options)
    return 0


def _fetch(dataset: Dataset, options: DataOptions) -> None:
    found = fetch(dataset, default_folder(), say=LOG.info)
    for path, digest in found.unknown:
        LOG.info(
            f"{dataset.name}: no published checksum for {path.name}; pinned the downloaded file's "
            f"SHA-256 {digest}; please report it"
        )
    for text in (dataset.note, f"licence: {dataset.licence}", f"please cite {dataset.citation}"):
        if text:
            LOG.info(f"{dataset.name}: {text}")
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
