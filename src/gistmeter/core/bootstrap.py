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
    count, member = _numbered(groups)
    return draw_groups(count, resamples=resamples, seed=seed)[:, member]


def draw_means(values: NDArray[np.float64], groups: Sequence[str], *, seed: int) -> NDArray[np.float64]:
    """Average what is drawn when whole groups are drawn with replacement.

    Args:
        values: Of shape (n,).
        groups: The group of each value.
        seed: Makes the draw repeatable.

    Returns:
        Means of shape (1000,); or (0,) for fewer than two groups: one document says nothing about others.
    """
    count, member = _numbered(groups)
    if count < 2:
        return np.empty(0)
    sums = np.bincount(member, weights=values)
    sizes = np.bincount(member)
    means = []
    # Draws in slices, so that a million documents fit into memory.
    step = max(1, DRAWN_AT_ONCE // count)
    for start in range(0, RESAMPLES, step):
        drawn = draw_groups(count, resamples=min(step, RESAMPLES - start), seed=seed + start)
        means.append((drawn @ sums) / (drawn @ sizes))
    return np.concatenate(means)


def bootstrap_mean(values: NDArray[np.float64], groups: Sequence[str], *, seed: int) -> tuple[float, float]:
    """Return the 95 % percentile interval of the mean, resampling whole groups.

    NaN, NaN where there are fewer than two groups.
    """
    means = draw_means(values, groups, seed=seed)
    if not len(means):
        return math.nan, math.nan
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _numbered(groups: Sequence[str]) -> tuple[int, NDArray[np.int64]]:
    """Return the number of groups, and the number of each row's group, in the order of their names.

    An array of names would give each as much memory as the longest needs.
    """
    number = {name: at for at, name in enumerate(sorted(set(groups)))}
    return len(number), np.array([number[name] for name in groups], dtype=np.int64)
