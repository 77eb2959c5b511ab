"""Bootstrap resamples of Pearson's correlation, computed from sums over groups of rows.

Each resample draws whole groups of rows (documents or systems) with replacement. Undefined values are NaN;
callers suppress NumPy's warnings.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.correlation import ROUNDING, scaled

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Labels = Sequence[str | None]
Draw = Callable[[tuple[str, ...]], Counts]  # n groups -> how often each is drawn (resamples, n)
NOTHING: Floats = np.empty(0)


def sums(weight: Floats, x: Floats, y: Floats) -> Floats:
    """Return the terms of a weighted Pearson correlation, w, wx, wy, wxx, wyy, wxy, on a new first axis."""
    wx, wy = weight * x, weight * y
    return np.stack([weight, wx, wy, wx * x, wy * y, wx * y])


def pearson_of_sums(totals: Floats | tuple[Floats, ...]) -> Floats:
    """Return Pearson's r from the six totals of `sums`; NaN where a column is constant."""
    n, x, y, xx, yy, xy = totals
    variance_x, variance_y = xx / n - (x / n) ** 2, yy / n - (y / n) ** 2
    defined = (variance_x > ROUNDING * xx / n) & (variance_y > ROUNDING * yy / n)
    r = (xy / n - x * y / n**2) / np.sqrt(variance_x * variance_y)
    return np.where(defined, np.clip(r, -1, 1), np.nan)


def flat_draws(x: Floats, y: Floats, groups: Labels, draw: Draw) -> Floats:
    """Return the pooled correlation under each resample of groups.

    Args:
        x: First column, of shape (n,), not constant.
        y: Second column.
        groups: Group of each row; a row without a group is its own group. If all rows belong to one group,
            rows are drawn instead.
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
    """Return the mean under each resample of groups.

    Args:
        x: One value per group.
        names: Names of the groups.
        draw: Draws groups.

    Returns:
        Means of shape (resamples,), or (0,) for fewer than two groups.
    """
    if len(x) < 2:
        return NOTHING
    weights = draw(tuple(map(str, names)))
    return np.asarray(weights @ x / weights.sum(axis=1))


def within_draws(x: Floats, y: Floats, documents: list[Counts], systems: Labels, draw: Draw) -> Floats:
    """Return the mean within-document correlation under each resample of systems.

    Documents whose correlation is undefined under a resample are omitted from its mean.

    Args:
        x: First column, of shape (n,).
        y: Second column.
        documents: Row indices of each document with a defined correlation.
        systems: System of each row; a row without a system is its own system.
        draw: Draws systems.

    Returns:
        Means of shape (resamples,), or (0,) for fewer than two named systems.
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
    """Return the correlation of the system means under each resample of documents.

    Args:
        x: First column, of shape (n,), whose system means are not constant.
        y: Second column.
        systems: System of each row.
        documents: Document of each row; a row without a document is its own document.
        draw: Draws documents.

    Returns:
        Correlations of shape (resamples,), or (0,) for fewer than two named documents.
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
    """Return the 95 % percentile interval of the defined values; NaN, NaN if there are none."""
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        return math.nan, math.nan
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def means(x: Floats, groups: list[Counts]) -> Floats:
    """Return the mean of each group's rows.

    Sums are exact, hence independent of the row order, so that equal means tie.
    """
    return np.array([math.fsum(x[rows]) / len(rows) for rows in groups])


def at(labels: Labels, rows: Counts) -> list[str | None]:
    """Return the labels of some rows."""
    return [labels[row] for row in rows]


def grouped(labels: Labels) -> tuple[list[str], Counts]:
    """Return the group names and the group index of each row; a row without a label is its own group."""
    keys = [label or f"\0{at}" for at, label in enumerate(labels)]
    names = list(dict.fromkeys(keys))
    place = {name: at for at, name in enumerate(names)}
    return names, np.array([place[key] for key in keys], dtype=int)


def rows_of(labels: Labels) -> tuple[list[str], list[Counts]]:
    """Return the group names and the row indices of each group; see `grouped`."""
    names, member = grouped(labels)
    ends = np.cumsum(np.bincount(member, minlength=len(names)))
    return names, np.split(np.argsort(member, kind="stable"), ends[:-1])[: len(names)]
