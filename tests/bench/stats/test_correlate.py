"""Compare correlations with SciPy's, and test undefined correlations."""

import json
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gistmeter.bench.stats.correlate import Correlation, Drawn, benchmark_row, correlate
from gistmeter.bench.stats.resampling import Floats
from gistmeter.core.levels import Level

LEVELS: tuple[Level, ...] = ("pooled", "summary", "system")
few_values = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, math.nan])  # many ties
any_values = few_values | st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
rows = st.lists(
    st.tuples(any_values, few_values, st.sampled_from("abcd"), st.sampled_from("xyz")),
    min_size=3,
    max_size=40,
)


def by_scipy(x: Floats, y: Floats) -> list[float]:
    """Return SciPy's three figures, NaN where a side is constant up to rounding."""
    if len(x) < 2 or any(np.ptp(side) <= 1e-12 * np.abs(side).max() for side in (x, y)):
        return [math.nan] * 3
    measures = (scipy.stats.pearsonr, scipy.stats.spearmanr, scipy.stats.kendalltau)
    return [float(measure(x, y).statistic) for measure in measures]


def figures(found: Correlation) -> list[float]:
    return [found.pearson, found.spearman, found.kendall]


def same(found: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, equal_nan=True)


@settings(max_examples=200, deadline=None)
@given(rows=rows)
def test_figures_are_scipys_at_every_level(rows: list[tuple[float, float, str, str]]) -> None:
    x, y = (np.array([row[side] for row in rows]) for side in (0, 1))
    documents, systems = [row[2] for row in rows], [row[3] for row in rows]
    judged, kept = np.isfinite(y), np.isfinite(x) & np.isfinite(y)
    document, system = np.array(documents), np.array(systems)

    def run(level: Level) -> Correlation:
        return correlate(x, y, documents=documents, systems=systems, level=level, resamples=20)

    flat = run("pooled")
    same(figures(flat), by_scipy(x[kept], y[kept]))
    assert (flat.n, flat.n_undefined) == (kept.sum(), (judged & ~kept).sum())

    within = run("summary")
    each = [by_scipy(x[kept & (document == d)], y[kept & (document == d)]) for d in set(document[judged])]
    defined = [found for found in each if not math.isnan(found[0])]
    same(figures(within), list(np.mean(defined, axis=0)) if defined else [math.nan] * 3)
    assert (within.n, within.n_undefined) == (len(defined), len(each) - len(defined))

    between = run("system")
    groups = [kept & (system == s) for s in sorted(set(system[kept]))]
    means = [np.array([math.fsum(side[group]) / group.sum() for group in groups]) for side in (x, y)]
    for mean in means if groups else ():  # ties by rounding have no truth to compare with
        gaps = np.diff(np.sort(mean))
        assume(not np.any((gaps > 0) & (gaps < 1e-9 * np.abs(mean).max())))
    same(figures(between), by_scipy(*means))
    assert (between.n, between.n_undefined) == (len(groups), (judged & ~kept).sum())


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1.0, 2.0], [5.0, 3.0]),
        ([1e6 + 1e-3, 1e6, 1e6 + 2e-3], [1.0, 2.0, 4.0]),
        ([1e-300, 3e-300, 2e-300], [1.0, 2.0, 4.0]),
        ([1e200, -1e200, 3e200], [1.0, 2.0, 4.0]),
        (list(range(1600)), [n * n % 97 for n in range(1600)]),
    ],
)
def test_figures_are_scipys_at_odd_scales(x: list[float], y: list[float]) -> None:
    found = correlate(x, y, documents=[None] * len(x), systems=[None] * len(x), level="pooled")
    same(figures(found), by_scipy(np.array(x, dtype=float), np.array(y, dtype=float)))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "values", [[0.5] * 8, [math.nan] * 8, [0.1 + 0.2, 0.3] * 4, [math.inf] * 8, [1.0] + [math.nan] * 7]
)
def test_a_metric_that_tells_nothing_apart_is_undefined(level: Level, values: list[float]) -> None:
    human = [1.0, 2, 3, 4, 5, 4, 3, 1]
    found = correlate(values, human, documents="aabbccdd", systems="xyxyxyxy", level=level)
    assert all(map(math.isnan, [*figures(found), found.low, found.high]))
    if level == "summary":
        assert (found.n, found.n_undefined) == (0, 4)
    else:
        assert found.n_undefined == 8 - np.isfinite(values).sum()


@pytest.mark.parametrize("by", ["summary", "system"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rows", [0, 1])
def test_no_row_and_one_row(rows: int, level: Level, by: Drawn) -> None:
    one = [0.5] * rows
    found = correlate(one, one, documents="a" * rows, systems="x" * rows, level=level, by=by)
    assert found.n == (0 if level == "summary" else rows)
    assert found.n_undefined == (rows if level == "summary" else 0)
    assert all(map(math.isnan, [*figures(found), found.low, found.high]))
    assert found.problem is not None


@pytest.mark.parametrize(
    ("values", "human", "level", "problem"),
    [
        ([0.5] * 4, [1, 2, 3, 5], "pooled", "the metric gives all rows the same value"),
        ([1, 2, 3, 5], [0.5] * 4, "pooled", "all rows have the same human score"),
        ([1, math.nan, math.nan, 2], [1, 2, 3, math.nan], "pooled", "fewer than two rows have a value"),
        ([1, 2, 2, 1], [1, 2, 3, 5], "system", "the metric gives all systems the same value"),
        ([1, math.nan, 2, math.nan], [1, 2, 3, 5], "system", "fewer than two systems have a value"),
        (
            [1, 1, 2, 2],
            [1, 2, 3, 5],
            "summary",
            "no document has both differing values and differing judgements",
        ),
    ],
)
def test_what_is_undefined_says_why(
    values: list[float], human: list[float], level: Level, problem: str
) -> None:
    found = correlate(values, human, documents="aabb", systems="xyxy", level=level)
    assert all(map(math.isnan, figures(found)))
    assert (found.problem or "").startswith(problem)
    row = benchmark_row("task", "speed", "value", "fluency", found, "speed|version=1")
    assert row["problem"] == found.problem


def test_rows_without_a_judgement_or_a_group_are_left_out() -> None:
    x, y = [1.0, 2, 4, 9, 9, math.nan], [2.0, 1, 3, math.nan, 7, 7]
    documents, systems = ["a", "a", "a", "a", None, "a"], ["x", "y", "z", "x", None, "x"]

    def run(level: Level) -> Correlation:
        return correlate(x, y, documents=documents, systems=systems, level=level)

    assert (run("pooled").n, run("pooled").n_undefined) == (4, 1)
    assert (run("summary").n, run("summary").n_undefined) == (1, 0)
    assert (run("system").n, run("system").n_undefined) == (3, 1)
    expected = by_scipy(np.array(x[:3]), np.array(y[:3]))
    same(figures(run("summary")), expected)
    same(figures(run("system")), expected)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_rounding_noise_is_no_order(scale: float) -> None:
    noisy = np.array([0.3, 0.1 + 0.2, 0.1 + 0.1 + 0.1, 0.7]) * scale
    labels = [None] * 4
    for x, y in ((noisy, [1.0, 2.0, 3.0, 4.0]), ([1.0, 2.0, 3.0, 4.0], noisy)):
        found = correlate(x, y, documents=labels, systems=labels, level="pooled")
        expected = by_scipy(np.array([0.0, 0.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0, 4.0]))
        assert [found.spearman, found.kendall] == pytest.approx(expected[1:])


def test_columns_of_different_length() -> None:
    with pytest.raises(ValueError, match="same length"):
        correlate([1.0], [1.0], documents=[], systems=["x"], level="pooled")


def test_equal_means_tie_whatever_the_order_of_their_rows() -> None:
    x = [0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.5, 0.5, 0.5]
    assert sum(x[:3]) != sum(x[3:6])
    y = [1.0, 1, 1, 2, 2, 2, 3, 3, 3]
    found = correlate(x, y, documents=list("abc") * 3, systems=list("xxxyyyzzz"), level="system")
    assert found.kendall == pytest.approx(scipy.stats.kendalltau([1, 1, 2], [1, 2, 3]).statistic)


def test_benchmark_rows_have_exactly_the_documented_keys() -> None:
    found = correlate([1.0, 2, 3], [1.0, 3, 2], documents="aaa", systems="xyz", level="summary")
    row = benchmark_row("task", "speed", "value", "fluency", found, "speed|version=1")
    keys = "task metric part dimension level n n_undefined pearson spearman kendall low high signature"
    assert " ".join(row) == keys
    assert row["n"] == 1
    assert row["pearson"] == pytest.approx(0.5)
    assert row["low"] is None
    assert json.loads(json.dumps(row, allow_nan=False)) == row
