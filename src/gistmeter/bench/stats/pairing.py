"""Which row of one system belongs to which row of another."""

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gistmeter.bench.stats.resampling import Floats
from gistmeter.core.errors import DataError


class Entry(NamedTuple):
    """The value of one row.

    Args:
        id: Of the row.
        document: What it is about, or None.
        value: NaN if it has none.
    """

    id: str
    document: str | None
    value: float


class Paired(NamedTuple):
    """Rows that have a value in both systems.

    Args:
        a: Values of one system, of shape (n,).
        b: Of the other.
        documents: What each row is about; a row without a document is one of its own.
        ids: Of the rows of `a`.
        n_undefined: Rows of both that lack a value in one.
        n_unmatched: Rows that only one of the two has.
    """

    a: Floats
    b: Floats
    documents: list[str | None]
    ids: list[str]
    n_undefined: int
    n_unmatched: int


Rows = Sequence[Entry]
Keyed = dict[Hashable, Entry]


def pair_rows(a: Rows, b: Rows, *, names: tuple[str, str]) -> Paired:
    """Match the rows of two systems: by id, or else by document and place in it.

    Ids match where the two share some, and a shared id is of the same document in both. Otherwise the first
    row of a document belongs to the first row of the same document, and so on; a document with more rows in
    one of the two is left out, as nobody can say which belong together.

    Args:
        a: Rows of one system.
        b: Of the other.
        names: What the two are called, for errors.

    Raises:
        DataError: If the two share neither ids nor documents, or an id stands twice in one of them.
    """
    keyed = _by_id(a, b, names) or _by_document(a, b)
    if keyed is None:
        raise DataError(
            f"the rows of {names[0]} and {names[1]} share neither ids nor documents; give the rows of one "
            "document the same doc_id in both"
        )
    one, other = keyed
    both = [(one[key], other[key]) for key in one if key in other]
    defined = [(x, y) for x, y in both if not math.isnan(x.value + y.value)]
    return Paired(
        np.array([x.value for x, _ in defined], dtype=float),
        np.array([y.value for _, y in defined], dtype=float),
        [x.document or y.document for x, y in defined],
        [x.id for x, _ in defined],
        len(both) - len(defined),
        len(a) + len(b) - 2 * len(both),
    )


def _by_id(a: Rows, b: Rows, names: tuple[str, str]) -> tuple[Keyed, Keyed] | None:
    ids_a: Keyed = {row.id: row for row in a}
    ids_b: Keyed = {row.id: row for row in b}
    shared = ids_a.keys() & ids_b.keys()
    if not shared or any(_differ(ids_a[id].document, ids_b[id].document) for id in shared):
        return None
    for name, rows in zip(names, (a, b), strict=True):
        id, times = Counter(row.id for row in rows).most_common(1)[0]
        if times > 1:
            raise DataError(
                f"the id {id} stands {times} times in {name}; give every row of a system an id of its own, "
                "or compare by what tells these rows apart: --by file"
            )
    return ids_a, ids_b


def _differ(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other


def _by_document(a: Rows, b: Rows) -> tuple[Keyed, Keyed] | None:
    sizes = [Counter(row.document for row in rows if row.document) for rows in (a, b)]
    if not sizes[0].keys() & sizes[1].keys():
        return None
    same = {document for document in sizes[0] if sizes[0][document] == sizes[1][document]}
    return dict(_placed(a, same)), dict(_placed(b, same))


def _placed(rows: Rows, documents: set[str]) -> Iterator[tuple[Hashable, Entry]]:
    seen: Counter[str] = Counter()
    for row in rows:
        if row.document is not None and row.document in documents:
            yield (row.document, seen[row.document]), row
            seen[row.document] += 1
