"""Pearson's correlation, for reports, training and analyses."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
ROUNDING = 1e-12
"""A spread below this share of the largest value is rounding error, not variation."""


def pearson(values: ArrayLike, judgements: ArrayLike) -> float:
    """Return Pearson's r of two columns (n,); NaN for fewer than two rows or if a column is constant.

    >>> round(pearson([1, 2, 3], [1, 2, 6]), 3), pearson([1, 1], [2, 3])
    (0.945, nan)
    """
    x, y = np.asarray(values, dtype=float), np.asarray(judgements, dtype=float)
    if len(x) < 2 or is_constant(x) or is_constant(y):
        return math.nan
    a, b = scaled(x), scaled(y)
    return float(np.clip(a / np.linalg.norm(a) @ (b / np.linalg.norm(b)), -1, 1))


def is_constant(x: Floats) -> bool:
    """Return whether the values (n,), n > 0, differ by no more than rounding error."""
    return bool(np.ptp(x) <= ROUNDING * np.abs(x).max())


def scaled(x: Floats) -> Floats:
    """Shift to mean 0 and scale to at most 1, so that sums of squares neither cancel nor overflow."""
    shifted = x - x.mean()
    return np.asarray(shifted / np.abs(shifted).max())
