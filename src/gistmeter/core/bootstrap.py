"""Bootstrap intervals that resample groups of rows with replacement."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
DRAWN_AT_ONCE = 10_000_000


def draw_groups(groups: int, *, resamples: int, seed: int) -> NDArray[np.int64]:
    """Draw groups with replacement and count how often each is drawn, shape (resamples, groups)."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(groups, np.full(groups, 1 / groups), size=resamples)


def group_weights(groups: Sequence[str], *, resamples: int, seed: int) -> NDArray[np.int64]:
    """Draw groups with replacement and count how often each row is drawn.

    Args:
        groups: The group of each row, length n.
        resamples: The number of bootstrap samples.
        seed: Seed of the random generator.

    Returns:
        Counts of shape (resamples, n).
    """
    names, member = np.unique(np.asarray(groups), return_inverse=True)
    return draw_groups(len(names), resamples=resamples, seed=seed)[:, member]


def bootstrap_mean(values: NDArray[np.float64], groups: Sequence[str], *, seed: int) -> tuple[float, float]:
    """Return the 95 % percentile interval of the mean, resampling whole groups.

    Return (NaN, NaN) for fewer than two groups: the variance between groups cannot be estimated.
    """
    names, member = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) < 2:
        return math.nan, math.nan
    sums = np.bincount(member, weights=values)
    sizes = np.bincount(member)
    means = []
    # Draws in slices, so that a million documents fit into memory.
    step = max(1, DRAWN_AT_ONCE // len(names))
    for start in range(0, RESAMPLES, step):
        drawn = draw_groups(len(names), resamples=min(step, RESAMPLES - start), seed=seed + start)
        means.append((drawn @ sums) / (drawn @ sizes))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)
