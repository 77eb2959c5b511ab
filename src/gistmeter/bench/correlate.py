"""How well a metric's values agree with human judgements, and how sure one can be of it.

Three levels, which answer different questions and must never be compared with each other:

- `flat`: over all rows, as most papers report it. Documents of different difficulty mix with quality.
- `document`: within each document, averaged: which of these candidates for the same text is better?
- `system`: over the systems' means: which system is better?
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gistmeter.core.report import RESAMPLES, group_weights

Level = Literal["flat", "document", "system"]
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Labels = Sequence[str | None]
Draw = Callable[[Sequence[str]], Counts]  # n groups -> how often each is drawn (resamples, n)
ROUNDING = 1e-12  # a spread below this share of the size is rounding, not a difference


@dataclass(frozen=True, slots=True)
class Correlation:
    """The agreement of a metric with people at one level; NaN is undefined.

    Args:
        level: Over what it was taken.
        n: Rows (flat), documents with a correlation of their own (document), or systems (system).
        n_undefined: Rows that people judged and the metric gave no value (flat, system), or documents
            without a correlation, because fewer than two of their rows have a value or all values or all
            judgements are the same (document).
        pearson: Pearson's r.
        spearman: Spearman's rho, ties ranked by their mean.
        kendall: Kendall's tau-b.
        low: Lower end of the 95 % bootstrap interval of `pearson`, documents drawn with replacement.
        high: Upper end.
    """

    level: Level
    n: int
    n_undefined: int
    pearson: float
    spearman: float
    kendall: float
    low: float
    high: float


def correlate(  # noqa: PLR0913 - four columns of a table, and how to draw from it
    values: ArrayLike,
    human: ArrayLike,
    *,
    documents: Labels,
    systems: Labels,
    level: Level,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Correlation:
    """Correlate a metric with human judgements.

    A row without a judgement is left out and counted nowhere; a row without a finite value is left out and
    counted. A row that names no system is left out at system level. Values that differ by rounding alone
    (by less than 1e-12 of the largest) are the same, and have no correlation with anything.

    The interval draws documents. A row that names no document is one of its own; at flat level, rows are
    drawn where all are of one document. The other levels need two documents that are known. A resample
    in which the correlation is undefined is left out.

    Args:
        values: The metric's, of shape (n,); NaN where it gave none.
        human: Judgements, of shape (n,); NaN where there is none.
        documents: What each row is about, or None.
        systems: What produced each row, or None.
        level: Over what to correlate.
        resamples: How many times to draw.
        seed: Of the bootstrap; metrics with values for the same documents see the same draws.

    Raises:
        ValueError: If the four columns differ in length.

    >>> found = correlate([0.1, 0.4, 0.3], [1, 5, 2], documents="aab", systems="xyx", level="flat")
    >>> round(found.pearson, 3), round(found.spearman, 3), found.n
    (0.891, 1.0, 3)
    """
    x, y = np.asarray(values, dtype=float), np.asarray(human, dtype=float)
    if not len(x) == len(y) == len(documents) == len(systems):
        raise ValueError("values, human, documents and systems must be of one length")
    judged = np.flatnonzero(np.isfinite(y))
    kept = judged[np.isfinite(x[judged])]
    draw = partial(group_weights, resamples=resamples, seed=seed)
    with np.errstate(all="ignore"):  # what cannot be computed comes out as NaN
        match level:
            case "flat":
                found = _flat(x[kept], y[kept], _at(documents, kept), draw)
            case "document":
                return _within_documents(x[judged], y[judged], _at(documents, judged), draw)
            case "system":
                named = np.array([at for at in kept if systems[at]], dtype=int)
                groups = (_at(systems, named), _at(documents, named))
                found = _between_systems(x[named], y[named], *groups, draw)
    return replace(found, n_undefined=len(judged) - len(kept))


def benchmark_row(
    task: str, metric: str, part: str, dimension: str, correlation: Correlation, signature: str
) -> dict[str, object]:
    """Return a correlation as `benchmark --json` writes it; a number that is undefined is None.

    Args:
        task: Which human judgements: the data set.
        metric: What the metric is called.
        part: Which of its figures: "value", or the name of a part.
        dimension: What people judged.
        correlation: Between the two.
        signature: The text of the metric's signature.
    """
    names = {"task": task, "metric": metric, "part": part, "dimension": dimension}
    items = asdict(correlation).items()
    figures = {name: None if isinstance(x, float) and math.isnan(x) else x for name, x in items}
    return names | figures | {"signature": signature}


def _flat(x: Floats, y: Floats, documents: Labels, draw: Draw) -> Correlation:
    names, member = _groups(documents)
    if len(names) < 2:
        names, member = _groups([None] * len(x))
    found = _all_three(x, y)
    drawn: Floats = np.empty(0)
    if len(names) > 1 and not math.isnan(found[0]):
        columns = _sums(np.ones_like(x), _scaled(x), _scaled(y))  # (rows, 6)
        totals = np.stack([np.bincount(member, column, len(names)) for column in columns.T], axis=1)
        drawn = _pearson_of_sums(np.asarray(draw(names) @ totals, dtype=float))
    return Correlation("flat", len(x), 0, *found, *_interval(drawn))


def _within_documents(x: Floats, y: Floats, documents: Labels, draw: Draw) -> Correlation:
    named = np.array([at for at, document in enumerate(documents) if document], dtype=int)
    names, member = _groups(_at(documents, named))
    groups = (named[group] for group in _rows_of(member, len(names)))
    kept = [group[np.isfinite(x[group])] for group in groups]
    found = np.array([_all_three(x[group], y[group]) for group in kept]).reshape(-1, 3)
    defined = np.isfinite(found[:, 0])
    found = found[defined]
    r, rho, tau = map(float, found.mean(axis=0) if len(found) else np.full(3, math.nan))
    drawn: Floats = np.empty(0)
    if len(found) > 1:
        weights = draw([name for name, good in zip(names, defined, strict=True) if good])
        drawn = weights @ found[:, 0] / weights.sum(axis=1)
    return Correlation("document", len(found), len(names) - len(found), r, rho, tau, *_interval(drawn))


def _between_systems(x: Floats, y: Floats, systems: Labels, documents: Labels, draw: Draw) -> Correlation:
    names, system = _groups(systems)
    rows = _rows_of(system, len(names))
    # An exact sum does not depend on the order of the rows, so that equal means are equal, and tie.
    mean_x, mean_y = (np.array([math.fsum(side[at]) / len(at) for at in rows]) for side in (x, y))
    found = _all_three(mean_x, mean_y)
    drawn: Floats = np.empty(0)
    if len(set(filter(None, documents))) > 1 and not math.isnan(found[0]):
        keys, member = _groups(documents)
        drawn = _system_resamples((_scaled(x), _scaled(y)), system, member, draw(keys))
    return Correlation("system", len(names), 0, *found, *_interval(drawn))


def _system_resamples(
    sides: tuple[Floats, Floats], system: Counts, document: Counts, weights: Counts
) -> Floats:
    """Correlate the systems' means anew under each drawing of documents; weights (resamples, documents)."""
    from scipy.sparse import coo_array

    def totals(column: Floats) -> Floats:
        shape = (int(system.max()) + 1, weights.shape[1])
        grid = coo_array((column, (system, document)), shape=shape).tocsr()
        return np.asarray(grid @ weights.T).T  # (resamples, systems)

    count = totals(np.ones_like(sides[0]))
    mean_x, mean_y = (np.where(count > 0, totals(side) / count, 0.0) for side in sides)
    return _pearson_of_sums(_sums((count > 0).astype(float), mean_x, mean_y).sum(axis=1))


def _all_three(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Return Pearson's, Spearman's and Kendall's correlation; NaN where a side is constant."""
    from scipy.stats import kendalltau, rankdata

    if len(x) < 2 or _is_constant(x) or _is_constant(y):
        return math.nan, math.nan, math.nan
    return _pearson(x, y), _pearson(rankdata(x), rankdata(y)), float(kendalltau(x, y).statistic)


def _is_constant(x: Floats) -> bool:
    return bool(np.ptp(x) <= ROUNDING * np.abs(x).max())


def _pearson(x: Floats, y: Floats) -> float:
    a, b = _scaled(x), _scaled(y)
    return float(np.clip(a / np.linalg.norm(a) @ (b / np.linalg.norm(b)), -1, 1))


def _scaled(x: Floats) -> Floats:
    """Shift the mean to 0 and scale to at most 1, so that sums of squares neither cancel nor overflow."""
    shifted = x - x.mean()
    return np.asarray(shifted / np.abs(shifted).max())


def _sums(weight: Floats, x: Floats, y: Floats) -> Floats:
    """Return what adds up to a weighted Pearson correlation: w, wx, wy, wxx, wyy, wxy on a last axis."""
    wx, wy = weight * x, weight * y
    return np.stack([weight, wx, wy, wx * x, wy * y, wx * y], axis=-1)


def _pearson_of_sums(sums: Floats) -> Floats:
    """Return Pearson's r for each row of sums (rows, 6); NaN where a side is constant."""
    n, x, y, xx, yy, xy = sums.T
    variance_x, variance_y = xx / n - (x / n) ** 2, yy / n - (y / n) ** 2
    defined = (variance_x > ROUNDING * xx / n) & (variance_y > ROUNDING * yy / n)
    r = (xy / n - x * y / n**2) / np.sqrt(variance_x * variance_y)
    return np.where(defined, np.clip(r, -1, 1), np.nan)


def _interval(drawn: Floats) -> tuple[float, float]:
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        return math.nan, math.nan
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _at(labels: Labels, rows: Counts) -> list[str | None]:
    return [labels[row] for row in rows]


def _groups(labels: Labels) -> tuple[list[str], Counts]:
    """Return the groups' names and the group of each row; a row without a label is a group of its own."""
    keys = [label or f"\0{at}" for at, label in enumerate(labels)]
    names = list(dict.fromkeys(keys))
    place = {name: at for at, name in enumerate(names)}
    return names, np.array([place[key] for key in keys], dtype=int)


def _rows_of(member: Counts, count: int) -> list[Counts]:
    """Return the rows of each group."""
    ends = np.cumsum(np.bincount(member, minlength=count))
    return np.split(np.argsort(member, kind="stable"), ends[:-1])[:count]
