"""Pearson's correlation, for training and for figures."""

import math

import numpy as np
from numpy.typing import ArrayLike


def pearson(values: ArrayLike, judgements: ArrayLike) -> float:
    """Return Pearson's r of two columns of shape (n,); NaN for fewer than two rows or a constant column.

    Reported results use `bench.stats.correlate`, which also treats differences due to rounding as ties.

    >>> round(pearson([1, 2, 3], [1, 2, 6]), 3), pearson([1, 1], [2, 3])
    (0.945, nan)
    """
    x, y = np.asarray(values, dtype=float), np.asarray(judgements, dtype=float)
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])
