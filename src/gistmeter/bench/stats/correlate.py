"""How well a metric's values agree with human judgements, and how sure one can be of it.

Three levels, which answer different questions and must never be compared with each other:

- `pooled`: over all rows, as most papers report it. Documents of different difficulty mix with quality.
- `summary`: within each document, averaged: which of these candidates for the same text is better?
- `system`: over the systems' means: which system is better?
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
    is_constant,
    mean_draws,
    means,
    pearson,
    rows_of,
    system_draws,
    within_draws,
)
from gistmeter.core.bootstrap import RESAMPLES, group_weights
from gistmeter.core.levels import Level

Drawn = Literal["summary", "system"]


@dataclass(frozen=True, slots=True)
class Correlation:
    """The agreement of a metric with people at one level; NaN is undefined.

    Args:
        level: Over what it was taken.
        n: Rows (pooled), documents with a correlation of their own (summary), or systems (system).
        n_undefined: Rows that people judged and the metric gave no value (pooled, system), or documents
            without a correlation, because fewer than two of their rows have a value or all values or all
            judgements are the same (summary).
        pearson: Pearson's r.
        spearman: Spearman's rho, ties ranked by their mean.
        kendall: Kendall's tau-b.
        low: Lower end of the 95 % bootstrap interval of `pearson`.
        high: Upper end.
        problem: Why the correlations are undefined; None where they are not.
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

    A row without a judgement is left out and counted nowhere; a row without a finite value is left out and
    counted. A row that names no system is left out at system level. Values that differ by rounding alone
    (by less than 1e-12 of the largest) are the same, and have no correlation with anything.

    The interval draws documents: what would other texts by the same systems give? Or it draws systems: what
    would other systems give on the same texts? A row that names no document (or system) is one of its own;
    at pooled level, rows are drawn where all are of one. The other levels need two that are known. A resample
    in which the correlation is undefined is left out.

    Args:
        values: The metric's, of shape (n,); NaN where it gave none.
        human: Judgements, of shape (n,); NaN where there is none.
        documents: What each row is about, or None.
        systems: What produced each row, or None.
        level: Over what to correlate.
        by: What the interval draws.
        resamples: How many times to draw.
        seed: Of the bootstrap; metrics with values for the same documents see the same draws.

    Raises:
        ValueError: If the four columns differ in length.

    >>> found = correlate([0.1, 0.4, 0.3], [1, 5, 2], documents="aab", systems="xyx", level="pooled")
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
    """Return a correlation as `benchmark --json` writes it; a number that is undefined is None.

    The row says under "problem" why the correlations are undefined, and has no such key where they are not.

    Args:
        task: Which human judgements: the data set.
        metric: What the metric is called.
        part: Which of its figures: "value", or the name of a part.
        dimension: What people judged.
        correlation: Between the two.
        signature: The text of the metric's signature.
    """
    names = {"task": task, "metric": metric, "part": part, "dimension": dimension}
    figures = for_json(asdict(correlation))
    problem = figures.pop("problem")
    return names | figures | {"signature": signature} | ({"problem": problem} if problem else {})


def for_json(figures: Mapping[str, object]) -> dict[str, object]:
    """Return figures with None for what is undefined, as JSON knows no NaN."""
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
        nan, problem = math.nan, "in no document do both values and judgements differ"
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
    """Return Pearson's, Spearman's and Kendall's correlation; NaN where a side is constant."""
    from scipy.stats import kendalltau, rankdata

    r = pearson(x, y)
    if math.isnan(r):
        return r, r, r
    # The method is of the p, which nobody reads: the exact one takes long, the other fails on two rows.
    tau = kendalltau(x, y, method="asymptotic" if len(x) > 2 else "auto").statistic
    return r, pearson(rankdata(x), rankdata(y)), float(tau)


def _problem(x: Floats, y: Floats, what: str) -> str | None:
    if len(x) < 2:
        return f"fewer than two {what}s have a value and a judgement"
    if is_constant(x):
        return f"the metric gives every {what} the same value"
    return f"people gave every {what} the same score" if is_constant(y) else None
