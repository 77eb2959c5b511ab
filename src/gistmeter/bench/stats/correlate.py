"""Correlations of metric values with human judgements, with bootstrap confidence intervals.

There are three levels. They answer different questions, so figures of different levels are not comparable:

- `pooled`: over all rows, as most papers report. Differences in document difficulty affect the result.
- `summary`: within each document, averaged. Which of the candidates for the same text is better?
- `system`: over system means. Which system is better?
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from gistmeter.bench.stats.resampling import (
    NOTHING,
    Draw,
    Floats,
    Labels,
    at,
    flat_draws,
    interval,
    mean_draws,
    means,
    rows_of,
    system_draws,
    within_draws,
)
from gistmeter.core.bootstrap import RESAMPLES, group_weights
from gistmeter.core.correlation import ROUNDING, is_constant, pearson
from gistmeter.core.levels import Level

Drawn = Literal["summary", "system"]


@dataclass(frozen=True, slots=True)
class Correlation:
    """Correlation of a metric with human judgements at one level; undefined values are NaN.

    Args:
        level: Level of the correlation.
        n: Number of rows (pooled), documents with a defined correlation (summary), or systems (system).
        n_undefined: Number of judged rows without a metric value (pooled, system), or of documents without a
            correlation because fewer than two of their rows have a value, or all their values or all their
            judgements are equal (summary).
        pearson: Pearson's r.
        spearman: Spearman's rho; ties get their mean rank.
        kendall: Kendall's tau-b.
        low: Lower end of the 95 % bootstrap interval of `pearson`.
        high: Upper end of the interval.
        problem: Reason why the correlations are undefined; None if they are defined.
    """

    level: Level
    n: int
    n_undefined: int
    pearson: float
    spearman: float
    kendall: float
    low: float
    high: float
    problem: str | None = None


def correlate(  # noqa: PLR0913 - four columns of a table, and how to draw from it
    values: ArrayLike,
    human: ArrayLike,
    *,
    documents: Labels,
    systems: Labels,
    level: Level,
    by: Drawn = "summary",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Correlation:
    """Correlate a metric with human judgements.

    Rows without a judgement are ignored. Judged rows without a finite metric value are omitted and counted in
    `n_undefined`. At system level, rows without a system are omitted. Values that differ only by rounding
    error (less than 1e-12 of the largest value) count as equal; the correlation of a constant is undefined.

    The interval resamples documents (variation over other texts by the same systems) or systems (variation
    over other systems on the same texts). A row without a document (or system) is its own group. At pooled
    level, rows are resampled if all belong to one group; the other levels need at least two named groups.
    Resamples with an undefined correlation are omitted.

    Args:
        values: Metric values, of shape (n,); NaN if undefined.
        human: Judgements, of shape (n,); NaN if missing.
        documents: Document id of each row, or None.
        systems: System name of each row, or None.
        level: Level of the correlation.
        by: Unit that the interval resamples.
        resamples: Number of bootstrap resamples.
        seed: Seed of the bootstrap; metrics with values for the same documents get the same resamples.

    Raises:
        ValueError: If the four columns differ in length.

    >>> found = correlate([0.1, 0.4, 0.3], [1, 5, 2], documents="aab", systems="xyx", level="pooled")
    >>> round(found.pearson, 3), round(found.spearman, 3), found.n
    (0.891, 1.0, 3)
    """
    x, y = np.asarray(values, dtype=float), np.asarray(human, dtype=float)
    if not len(x) == len(y) == len(documents) == len(systems):
        raise ValueError("values, human, documents and systems must have the same length")
    judged = np.flatnonzero(np.isfinite(y))
    kept = judged[np.isfinite(x[judged])]
    draw = partial(group_weights, resamples=resamples, seed=seed)
    with np.errstate(all="ignore"):  # undefined values become NaN
        match level:
            case "pooled":
                found = _flat(x[kept], y[kept], at(documents if by == "summary" else systems, kept), draw)
            case "summary":
                labels = at(documents, judged), at(systems, judged)
                return _within_documents(x[judged], y[judged], *labels, by, draw)
            case "system":
                named = np.array([row for row in kept if systems[row]], dtype=int)
                labels = at(documents, named), at(systems, named)
                found = _between_systems(x[named], y[named], *labels, by, draw)
    return replace(found, n_undefined=len(judged) - len(kept))


def benchmark_row(
    task: str, metric: str, part: str, dimension: str, correlation: Correlation, signature: str
) -> dict[str, object]:
    """Return a correlation as a row of `benchmark --json`; undefined numbers are None.

    If the correlations are undefined, the row has the key "problem" with the reason.

    Args:
        task: Name of the data set.
        metric: Name of the metric.
        part: "value", or the name of a component.
        dimension: Human dimension.
        correlation: Correlation of the metric with the dimension.
        signature: Text of the metric's signature.
    """
    names = {"task": task, "metric": metric, "part": part, "dimension": dimension}
    figures = for_json(asdict(correlation))
    problem = figures.pop("problem")
    return names | figures | {"signature": signature} | ({"problem": problem} if problem else {})


def for_json(figures: Mapping[str, object]) -> dict[str, object]:
    """Replace NaN with None, because JSON has no NaN."""
    return {name: None if isinstance(x, float) and math.isnan(x) else x for name, x in figures.items()}


def _flat(x: Floats, y: Floats, groups: Labels, draw: Draw) -> Correlation:
    found, problem = _all_three(x, y), _problem(x, y, "row")
    drawn = flat_draws(x, y, groups, draw) if problem is None else NOTHING
    return Correlation("pooled", len(x), 0, *found, *interval(drawn), problem)


def _within_documents(
    x: Floats, y: Floats, documents: Labels, systems: Labels, by: Drawn, draw: Draw
) -> Correlation:
    named = np.array([row for row, document in enumerate(documents) if document], dtype=int)
    names, groups = rows_of(at(documents, named))
    rows = [named[group][np.isfinite(x[named[group]])] for group in groups]
    found = np.array([_all_three(x[group], y[group]) for group in rows]).reshape(-1, 3)
    defined = np.flatnonzero(np.isfinite(found[:, 0]))
    n, n_undefined = len(defined), len(found) - len(defined)
    if not n:
        nan, problem = math.nan, "no document has both differing values and differing judgements"
        return Correlation("summary", 0, n_undefined, nan, nan, nan, nan, nan, problem)
    if by == "summary":
        resampled = mean_draws(found[defined, 0], at(names, defined), draw)
    else:
        resampled = within_draws(x, y, [rows[document] for document in defined], systems, draw)
    r, rho, tau = map(float, found[defined].mean(axis=0))
    return Correlation("summary", n, n_undefined, r, rho, tau, *interval(resampled))


def _between_systems(
    x: Floats, y: Floats, documents: Labels, systems: Labels, by: Drawn, draw: Draw
) -> Correlation:
    names, rows = rows_of(systems)
    mean_x, mean_y = means(x, rows), means(y, rows)
    found, problem = _all_three(mean_x, mean_y), _problem(mean_x, mean_y, "system")
    resampled = NOTHING
    if problem is None and by == "system":
        resampled = flat_draws(mean_x, mean_y, names, draw)
    elif problem is None:
        resampled = system_draws(x, y, systems, documents, draw)
    return Correlation("system", len(names), 0, *found, *interval(resampled), problem)


def _all_three(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Return Pearson's, Spearman's and Kendall's correlation; NaN if a column is constant."""
    from scipy.stats import kendalltau, rankdata

    r = pearson(x, y)
    if math.isnan(r):
        return r, r, r
    x, y = _order(x), _order(y)
    # `method` only affects the p-value, which is unused: "exact" is slow, "asymptotic" fails on two rows.
    tau = kendalltau(x, y, method="asymptotic" if len(x) > 2 else "auto").statistic
    return r, pearson(rankdata(x), rankdata(y)), float(tau)


def _order(x: Floats) -> Floats:
    """Return the place of each value among the distinct ones; values within rounding error share a place."""
    order = np.argsort(x, kind="stable")
    steps = np.diff(x[order]) > ROUNDING * np.abs(x).max()
    places = np.empty(len(x))
    places[order] = np.concatenate([[0], np.cumsum(steps)])
    return places


def _problem(x: Floats, y: Floats, what: str) -> str | None:
    if len(x) < 2:
        return f"fewer than two {what}s have a value and a judgement"
    if is_constant(x):
        return f"the metric gives all {what}s the same value"
    return f"all {what}s have the same human score" if is_constant(y) else None
