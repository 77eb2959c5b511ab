"""Loaders for the published formats of human judgements, one module each."""

from collections.abc import Callable, Iterator
from functools import partial

from gistmeter.bench.datasets.loaders import (
    asset,
    dialsummeval,
    frank,
    multi_summeval,
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
    **{
        f"multi_summeval_{language}": partial(multi_summeval.read, language=language)
        for language in multi_summeval.LANGUAGES
    },
    "qags": qags.read,
    "simplicity_da": simplicity_da.read,
    "summeval": summeval.read,
    "xsumfaith": xsumfaith.read,
}
"""Loader name → function. A loader takes the original files in declared order, yields rows with ids, and
raises a `DataError` with the position of a format error."""
