"""Pearson's correlation of a thousand drawings of the same rows, from sums that add up.

Every drawing takes whole groups of rows (documents, or systems) with replacement. What cannot be computed
comes out as NaN; the callers keep NumPy from warning of it.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Labels = Sequence[str | None]
Draw = Callable[[tuple[str, ...]], Counts]  # n groups -> how often each is drawn (resamples, n)
NOTHING: Floats = np.empty(0)
ROUNDING = 1e-12  # a spread below this share of the size is rounding, not a difference


def pearson(x: Floats, y: Floats) -> float:
    """Return Pearson's r of two columns (n,); NaN for fewer than two rows and where a side is constant."""
    if len(x) < 2 or is_constant(x) or is_constant(y):
        return math.nan
    a, b = scaled(x), scaled(y)
    return float(np.clip(a / np.linalg.norm(a) @ (b / np.linalg.norm(b)), -1, 1))


def is_constant(x: Floats) -> bool:
    """Say whether the values (n,), n > 0, differ by no more than rounding."""
    return bool(np.ptp(x) <= ROUNDING * np.abs(x).max())


def scaled(x: Floats) -> Floats:
    """Shift the mean to 0 and scale to at most 1, so that sums of squares neither cancel nor overflow."""
    shifted = x - x.mean()
    return np.asarray(shifted / np.abs(shifted).max())


def sums(weight: Floats, x: Floats, y: Floats) -> Floats:
    """Return what adds up to a weighted Pearson correlation: w, wx, wy, wxx, wyy, wxy on a first axis."""
    wx, wy = weight * x, weight * y
    return np.stack([weight, wx, wy, wx * x, wy * y, wx * y])


def pearson_of_sums(totals: Floats | tuple[Floats, ...]) -> Floats:
    """Return Pearson's r of the six sums of `sums`, of their shape; NaN where a side is constant."""
    n, x, y, xx, yy, xy = totals
    variance_x, variance_y = xx / n - (x / n) ** 2, yy / n - (y / n) ** 2
    defined = (variance_x > ROUNDING * xx / n) & (variance_y > ROUNDING * yy / n)
    r = (xy / n - x * y / n**2) / np.sqrt(variance_x * variance_y)
    return np.where(defined, np.clip(r, -1, 1), np.nan)


def flat_draws(x: Floats, y: Floats, groups: Labels, draw: Draw) -> Floats:
    """Correlate the rows of the groups that are drawn.

    Args:
        x: One column, of shape (n,), not constant.
        y: The other.
        groups: The group of each row; a row without one is one of its own. Where all rows are of one
            group, rows are drawn.
        draw: Draws groups.

    Returns:
        Correlations of shape (resamples,), or (0,) for fewer than two rows.
    """
    names, member = grouped(groups)
    if len(names) < 2:
        names, member = grouped([None] * len(x))
    if len(names) < 2:
        return NOTHING
    rows = sums(np.ones_like(x), scaled(x), scaled(y))
    totals = np.stack([np.bincount(member, row, len(names)) for row in rows])
    return pearson_of_sums(totals @ draw(tuple(names)).T.astype(float))


def mean_draws(x: Floats, names: Labels, draw: Draw) -> Floats:
    """Average what is drawn.

    Args:
        x: A figure of each of n groups.
        names: Of the groups.
        draw: Draws groups.

    Returns:
        Means of shape (resamples,), or (0,) for fewer than two groups.
    """
    if len(x) < 2:
        return NOTHING
    weights = draw(tuple(map(str, names)))
    return np.asarray(weights @ x / weights.sum(axis=1))


def within_draws(x: Floats, y: Floats, documents: list[Counts], systems: Labels, draw: Draw) -> Floats:
    """Average the documents' correlations under each drawing of systems.

    A document in which the systems that were drawn have no correlation is left out of that average.

    Args:
        x: One column, of shape (n,).
        y: The other.
        documents: The rows of each document in which the two columns have a correlation.
        systems: The system of each row; a row without one is a system of its own.
        draw: Draws systems.

    Returns:
        Means of shape (resamples,), or (0,) where fewer than two systems are known.
    """
    rows = np.concatenate(documents)
    names, member = grouped(at(systems, rows))
    if len(set(filter(None, at(systems, rows)))) < 2:
        return NOTHING
    weights = draw(tuple(names)).astype(float)
    total, count = np.zeros(len(weights)), np.zeros(len(weights))
    drawn = np.split(
        member, np.cumsum([len(group) for group in documents])[:-1]
    )  # the systems of each document
    for group, own in zip(documents, drawn, strict=True):
        columns = sums(np.ones(len(group)), scaled(x[group]), scaled(y[group]))
        found = pearson_of_sums(columns @ weights[:, own].T)
        total += np.nan_to_num(found)
        count += np.isfinite(found)
    return np.asarray(total / count)


def system_draws(x: Floats, y: Floats, systems: Labels, documents: Labels, draw: Draw) -> Floats:
    """Correlate the systems' means anew under each drawing of documents.

    Args:
        x: One column, of shape (n,), whose systems' means are not constant.
        y: The other.
        systems: The system of each row.
        documents: The document of each row; a row without one is a document of its own.
        draw: Draws documents.

    Returns:
        Correlations of shape (resamples,), or (0,) where fewer than two documents are known.
    """
    from scipy.sparse import coo_array

    if len(set(filter(None, documents))) < 2:
        return NOTHING
    names, document = grouped(documents)
    own, system = grouped(systems)
    weights = draw(tuple(names)).T

    def totals(column: Floats) -> Floats:
        grid = coo_array((column, (system, document)), shape=(len(own), len(names))).tocsr()
        return np.asarray(grid @ weights)  # (systems, resamples)

    count = totals(np.ones_like(x))
    mean_x, mean_y = (np.where(count > 0, totals(scaled(side)) / count, 0.0) for side in (x, y))
    return pearson_of_sums(sums((count > 0).astype(float), mean_x, mean_y).sum(axis=1))


def interval(drawn: Floats) -> tuple[float, float]:
    """Return the 95 % percentile interval of what is defined; NaN, NaN if nothing is."""
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        return math.nan, math.nan
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def means(x: Floats, groups: list[Counts]) -> Floats:
    """Average the rows of each group.

    An exact sum does not depend on the order of the rows, so that equal means are equal, and tie.
    """
    return np.array([math.fsum(x[rows]) / len(rows) for rows in groups])


def at(labels: Labels, rows: Counts) -> list[str | None]:
    """Return the labels of some rows."""
    return [labels[row] for row in rows]


def grouped(labels: Labels) -> tuple[list[str], Counts]:
    """Return the groups' names and the group of each row; a row without a label is a group of its own."""
    keys = [label or f"\0{at}" for at, label in enumerate(labels)]
    names = list(dict.fromkeys(keys))
    place = {name: at for at, name in enumerate(names)}
    return names, np.array([place[key] for key in keys], dtype=int)


def rows_of(labels: Labels) -> tuple[list[str], list[Counts]]:
    """Return the groups' names and the rows of each group, as `grouped` makes them."""
    names, member = grouped(labels)
    ends = np.cumsum(np.bincount(member, minlength=len(names)))
    return names, np.split(np.argsort(member, kind="stable"), ends[:-1])[: len(names)]
