"""The formats in which human judgements are published, read as rows: a short file each."""

from collections.abc import Callable, Iterator
from functools import partial

from gistmeter.bench.datasets.loaders import (
    asset,
    dialsummeval,
    frank,
    qags,
    simplicity_da,
    summeval,
    xsumfaith,
)
from gistmeter.core.row import Row

LOADERS: dict[str, Callable[..., Iterator[Row]]] = {
    "asset": asset.read,
    "dialsummeval": dialsummeval.read,
    "frank_cnndm": partial(frank.read, half="cnndm"),
    "frank_xsum": partial(frank.read, half="bbc"),
    "qags": qags.read,
    "simplicity_da": simplicity_da.read,
    "summeval": summeval.read,
    "xsumfaith": xsumfaith.read,
}
"""By the names that tasks declare: each takes a task's originals, in the order in which it declares them,
yields rows with an id each, and raises a `DataError` that says where a file is not of its format."""
