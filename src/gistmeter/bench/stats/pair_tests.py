"""Significance tests for the difference of two correlations, and Holm's correction."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gistmeter.bench.stats.resampling import Counts, Floats, pearson_of_sums, sums
from gistmeter.core.bootstrap import DRAWN_AT_ONCE
from gistmeter.core.correlation import ROUNDING

EXCHANGES_A_PAIR = 40  # with fewer than 20, no corrected p-value could be below 0.05
Signs = NDArray[np.int8]
SAME = 1e-9  # tolerance for ties between permuted and observed differences, which arise from rounding


def williams(r_a: float, r_b: float, between: float, n: int) -> tuple[float, float]:
    """Test whether the correlations of two columns with a third column differ.

    Williams' t in the form of Steiger (1980, "Tests for comparing elements of a correlation matrix").

    Args:
        r_a: Correlation of the first column with the third, on independent rows.
        r_b: Correlation of the second column with the third.
        between: Correlation of the first column with the second.
        n: Number of rows.

    Returns:
        t with n − 3 degrees of freedom and its two-sided p-value; NaN for fewer than four rows.

    >>> t, p = williams(0.4, 0.5, 0.1, 103)
    >>> round(t, 2), round(p, 2)
    (-0.89, 0.37)
    """
    from scipy.special import stdtr

    if n < 4 or math.isnan(r_a + r_b + between):
        return math.nan, math.nan
    if abs(r_a - r_b) <= ROUNDING:  # equal correlations would give 0 / 0
        return 0.0, 1.0
    determinant = max(0.0, 1 - r_a**2 - r_b**2 - between**2 + 2 * r_a * r_b * between)
    spread = 2 * (n - 1) / (n - 3) * determinant + ((r_a + r_b) / 2) ** 2 * (1 - between) ** 3
    if spread <= 0:  # opposite columns, one with a perfect fit
        return math.nan, math.nan
    t = (r_a - r_b) * math.sqrt((n - 1) * (1 + between) / spread)
    return t, float(2 * stdtr(n - 3, -abs(t)))


def holm(p: Sequence[float]) -> list[float]:
    """Correct p-values for multiple comparisons (Holm 1979); NaN stays NaN and is not counted.

    >>> [round(corrected, 2) for corrected in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted((x, place) for place, x in enumerate(p) if not math.isnan(x))
    corrected = [math.nan] * len(p)
    highest = 0.0
    for rank, (x, place) in enumerate(order):
        highest = corrected[place] = max(highest, min(1.0, x * (len(order) - rank)))
    return corrected


def bootstrap_p(drawn: Floats) -> float:
    """Return twice the share of the differences (resamples,) on the rarer side of 0; NaN if all are NaN."""
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        return math.nan
    rarer = min((drawn <= ROUNDING).sum(), (drawn >= -ROUNDING).sum())
    return min(1.0, 2 * float(1 + rarer) / (1 + len(drawn)))


def draw_signs(rows: int, *, resamples: int, seed: int) -> Signs:
    """Draw the rows in which the two metrics are exchanged: −1 if exchanged, shape (rows, resamples)."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, size=(rows, resamples), dtype=np.int8) * np.int8(2) - np.int8(1)


def permutation_p(
    a: Floats, b: Floats, human: Floats, member: Counts, signs: Signs, *, of_means: bool
) -> float:
    """Run the permutation test PERM-BOTH for equal correlation with human judgements.

    Both metrics are standardized, then exchanged at random per row. p is the share of permutations, including
    the observed one, with at least as large an absolute difference.

    Args:
        a: Values of the first metric, of shape (n,), not constant.
        b: Values of the second metric.
        human: Judgements.
        member: Group index of each row (document or system); 0 throughout at pooled level.
        signs: Result of `draw_signs`.
        of_means: Whether to correlate group means, as at system level, instead of averaging the correlations
            within groups.

    Returns:
        Two-sided p-value, above 0.
    """
    a, b, human = ((side - side.mean()) / side.std() for side in (a, b, human))

    def differences(signs: Floats) -> Floats:
        return (_of_means if of_means else _within)(a, b, human, member, signs)

    step = max(1, DRAWN_AT_ONCE // len(a))
    starts = range(0, signs.shape[1], step)
    drawn = np.concatenate([differences(signs[:, at : at + step].astype(float)) for at in starts])
    drawn = drawn[np.isfinite(drawn)]
    (observed,) = differences(np.ones((len(a), 1)))
    return float(1 + (np.abs(drawn) >= abs(observed) - SAME).sum()) / (1 + len(drawn))


# Exchanging a and b keeps (a + b) / 2 and negates (a − b) / 2. So every sum over rows is a constant plus a
# signed sum, and all permutations are computed with one matrix product.


def _within(a: Floats, b: Floats, human: Floats, member: Counts, signs: Floats) -> Floats:
    """Return, for each permutation, the difference of the mean within-group correlations."""
    middle, half = (a + b) / 2, (a - b) / 2

    def fixed(column: Floats) -> Floats:
        return np.asarray(np.bincount(member, column)[:, None], dtype=float)  # (groups, 1)

    n, y, yy = fixed(np.ones_like(human)), fixed(human), fixed(human**2)
    x, xx, xy = fixed(middle), fixed(middle**2 + half**2), fixed(middle * human)
    turned = [_sums_of(column, member, signs) for column in (half, 2 * middle * half, half * human)]
    r_a, r_b = (
        pearson_of_sums((n, x + turn * dx, y, xx + turn * dxx, yy, xy + turn * dxy))
        for dx, dxx, dxy in [turned]
        for turn in (1, -1)
    )
    found = r_a - r_b
    return np.asarray(np.nan_to_num(found).sum(axis=0) / np.isfinite(found).sum(axis=0))


def _of_means(a: Floats, b: Floats, human: Floats, member: Counts, signs: Floats) -> Floats:
    """Return, for each permutation, the difference of the correlations of group means."""
    size = np.bincount(member)[:, None]
    middle = np.bincount(member, (a + b) / 2)[:, None] / size
    half = _sums_of((a - b) / 2, member, signs) / size  # (groups, exchanges)
    one = np.ones_like(half)
    y = one * np.bincount(member, human)[:, None] / size
    r_a, r_b = (pearson_of_sums(sums(one, middle + turned, y).sum(axis=1)) for turned in (half, -half))
    return r_a - r_b


def _sums_of(column: Floats, member: Counts, signs: Floats) -> Floats:
    """Sum a column (n,) with the signs (n, exchanges) over each group; shape (groups, exchanges)."""
    from scipy.sparse import coo_array

    grid = coo_array((column, (member, np.arange(len(column))))).tocsr()
    return np.asarray(grid @ signs)
