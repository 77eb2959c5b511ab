"""Did scores fall against a baseline? A one-sided paired test by document."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gistmeter.bench.stats.exchange import exchange_p
from gistmeter.bench.stats.pairing import Entry, pair_rows
from gistmeter.bench.stats.resampling import grouped
from gistmeter.core.errors import DataError
from gistmeter.io.measured import Measured

NAMES = ("this run", "the baseline")


@dataclass(frozen=True, slots=True)
class Change:
    """How far a metric moved against a baseline.

    Args:
        metric: The metric's label.
        n: Rows that have a value in both.
        documents: Of these rows.
        n_left_out: Rows that only one of the two has, or that lack a value in one.
        difference: Mean of this run − mean of the baseline, over the n rows; NaN without any.
        p: One-sided: how likely two equal systems are to give as low a difference; NaN without rows.
        rows: Id, value here and value in the baseline of each row, the largest fall first.
    """

    metric: str
    n: int
    documents: int
    n_left_out: int
    difference: float
    p: float
    rows: tuple[tuple[str, float, float], ...]


def change(metric: str, new: Sequence[Measured], baseline: Sequence[Measured], *, seed: int = 0) -> Change:
    """Compare one metric's values with those of a baseline.

    Args:
        metric: The metric's label.
        new: The values of this run.
        baseline: The values to compare with.
        seed: Of the permutation test.

    Raises:
        DataError: If the baseline lacks the metric, was scored in another way, or shares no rows.
    """
    if not baseline:
        raise DataError(f"the baseline has no scores by {metric}; score it with the same metrics")
    signatures = {row.signature for row in (*new, *baseline) if row.signature}
    if len(signatures) > 1:
        said = " and ".join(sorted(signatures))
        raise DataError(f"{metric}: the baseline was scored in another way ({said}); score it again")
    unique = all(len({row.id for row in rows}) == len(rows) for rows in (new, baseline))
    one, other = (
        [Entry(row.id if unique else f"{row.by}/{row.id}", row.doc_id, row.value) for row in rows]
        for rows in (new, baseline)
    )
    pair = pair_rows(one, other, names=NAMES)
    names, member = grouped(pair.documents)
    left_out = pair.n_undefined + pair.n_unmatched
    if not len(pair.a):
        return Change(metric, 0, 0, left_out, math.nan, math.nan, ())
    falls = pair.a - pair.b
    p = exchange_p(np.bincount(member, falls).astype(float), tail="less", seed=seed)
    rows = tuple(
        (pair.ids[at], float(pair.a[at]), float(pair.b[at])) for at in np.argsort(falls, kind="stable")
    )
    return Change(metric, len(falls), len(names), left_out, float(falls.mean()), p, rows)
