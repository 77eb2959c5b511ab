"""Correlations against SciPy's, intervals against a plain loop and against a truth that is known."""

import json
import math
import time

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gistmeter.bench.correlate import Correlation, Floats, Level, benchmark_row, correlate
from gistmeter.core.report import group_weights

LEVELS: tuple[Level, ...] = ("flat", "document", "system")
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

    flat = run("flat")
    same(figures(flat), by_scipy(x[kept], y[kept]))
    assert (flat.n, flat.n_undefined) == (kept.sum(), (judged & ~kept).sum())

    within = run("document")
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
    found = correlate(x, y, documents=[None] * len(x), systems=[None] * len(x), level="flat")
    same(figures(found), by_scipy(np.array(x, dtype=float), np.array(y, dtype=float)))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "values", [[0.5] * 8, [math.nan] * 8, [0.1 + 0.2, 0.3] * 4, [math.inf] * 8, [1.0] + [math.nan] * 7]
)
def test_a_metric_that_tells_nothing_apart_is_undefined(level: Level, values: list[float]) -> None:
    human = [1.0, 2, 3, 4, 5, 4, 3, 1]
    found = correlate(values, human, documents="aabbccdd", systems="xyxyxyxy", level=level)
    assert all(map(math.isnan, [*figures(found), found.low, found.high]))
    if level == "document":
        assert (found.n, found.n_undefined) == (0, 4)
    else:
        assert found.n_undefined == 8 - np.isfinite(values).sum()


@pytest.mark.parametrize("level", LEVELS)
def test_no_rows(level: Level) -> None:
    found = correlate([], [], documents=[], systems=[], level=level)
    assert (found.n, found.n_undefined) == (0, 0)
    assert all(map(math.isnan, [*figures(found), found.low, found.high]))


def test_rows_without_a_judgement_or_a_group_are_left_out() -> None:
    x, y = [1.0, 2, 4, 9, 9, math.nan], [2.0, 1, 3, math.nan, 7, 7]
    documents, systems = ["a", "a", "a", "a", None, "a"], ["x", "y", "z", "x", None, "x"]

    def run(level: Level) -> Correlation:
        return correlate(x, y, documents=documents, systems=systems, level=level)

    assert (run("flat").n, run("flat").n_undefined) == (4, 1)
    assert (run("document").n, run("document").n_undefined) == (1, 0)
    assert (run("system").n, run("system").n_undefined) == (3, 1)
    expected = by_scipy(np.array(x[:3]), np.array(y[:3]))
    same(figures(run("document")), expected)
    same(figures(run("system")), expected)


def test_intervals_of_one_document() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    x = y + rng.normal(size=60)

    def run(documents: list[str | None], level: Level) -> tuple[float, float]:
        found = correlate(x, y, documents=documents, systems=["x", "y", "z"] * 20, level=level)
        return found.low, found.high

    assert run(["a"] * 60, "flat") == run([None] * 60, "flat")
    assert -1 < run([None] * 60, "flat")[0] < run([None] * 60, "flat")[1] < 1
    for level in LEVELS[1:]:
        assert all(map(math.isnan, run(["a"] * 60, level) + run([None] * 60, level)))


def test_columns_of_different_length() -> None:
    with pytest.raises(ValueError, match="one length"):
        correlate([1.0], [1.0], documents=[], systems=["x"], level="flat")


def judged_rows(*, documents: int, each: int, seed: int) -> tuple[Floats, Floats, list[str]]:
    """Draw rows with a correlation of 0.5, over documents and within, whose documents differ."""
    rng = np.random.default_rng(seed)
    covariance = [[1, 0.5], [0.5, 1]]
    noise = rng.multivariate_normal([0, 0], covariance, size=(documents, each))
    noise += rng.multivariate_normal([0, 0], covariance, size=(documents, 1))
    x, y = noise.reshape(-1, 2).T
    return x, y, [f"d{n // each}" for n in range(documents * each)]


@pytest.mark.parametrize("level", LEVELS)
def test_intervals_are_those_of_a_plain_loop(level: Level) -> None:
    x, y, documents = judged_rows(documents=12, each=4, seed=1)
    x, y = 100 + 3 * x, 5 + y
    systems = [f"s{n % 4}" for n in range(48)]
    keep = [n for n in range(48) if n not in (3, 7, 20)]  # documents without all their systems
    x, y = x[keep], y[keep]
    documents, systems = [documents[n] for n in keep], [systems[n] for n in keep]
    names = list(dict.fromkeys(documents))
    drawn = []
    for counts in group_weights(names, resamples=300, seed=5):
        rows = [n for n, d in enumerate(documents) for _ in range(counts[names.index(d)])]
        if level == "flat":
            drawn.append(np.corrcoef(x[rows], y[rows])[0, 1])
        elif level == "document":
            each = [[n for n in range(45) if documents[n] == name] for name in names]
            within = [np.corrcoef(x[group], y[group])[0, 1] for group in each]
            drawn.append(np.average(within, weights=counts))
        else:
            groups = [[n for n in rows if systems[n] == s] for s in sorted(set(systems))]
            means = np.array([[side[group].mean() for group in groups] for side in (x, y)])
            drawn.append(np.corrcoef(means)[0, 1])
    found = correlate(x, y, documents=documents, systems=systems, level=level, resamples=300, seed=5)
    same([found.low, found.high], list(np.quantile(drawn, [0.025, 0.975])))


@pytest.mark.parametrize("swapped", [False, True])
def test_resamples_in_which_nothing_differs_are_left_out(swapped: bool) -> None:
    documents = [name for name in "abc" for _ in range(3)]
    x, y = np.array([0.3] * 6 + [0.1, 0.7, 0.2]), np.array([1.0, 7, 2, 4, 3, 8, 9, 2, 5])
    if swapped:
        x, y = y, x
    drawn = []
    for counts in group_weights(list("abc"), resamples=200, seed=0):
        rows = [n for n in range(9) for _ in range(counts["abc".index(documents[n])])]
        if counts[2]:
            drawn.append(np.corrcoef(x[rows], y[rows])[0, 1])
    found = correlate(x, y, documents=documents, systems=documents, level="flat", resamples=200)
    assert len(drawn) < 200
    same([found.low, found.high], list(np.quantile(drawn, [0.025, 0.975])))


def test_equal_means_tie_whatever_the_order_of_their_rows() -> None:
    x = [0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.5, 0.5, 0.5]
    assert sum(x[:3]) != sum(x[3:6])
    y = [1.0, 1, 1, 2, 2, 2, 3, 3, 3]
    found = correlate(x, y, documents=list("abc") * 3, systems=list("xxxyyyzzz"), level="system")
    assert found.kendall == pytest.approx(scipy.stats.kendalltau([1, 1, 2], [1, 2, 3]).statistic)


@pytest.mark.parametrize("level", ["flat", "document"])
def test_intervals_cover_a_known_truth_as_often_as_they_say(level: Level) -> None:
    covered = 0
    for seed in range(100):
        x, y, documents = judged_rows(documents=50, each=20, seed=seed)
        found = correlate(x, y, documents=documents, systems=[None] * len(x), level=level, resamples=400)
        covered += found.low <= 0.5 <= found.high
    assert 90 <= covered <= 99


def test_an_interval_by_document_is_wider_than_one_by_row() -> None:
    x, y, documents = judged_rows(documents=40, each=10, seed=3)

    def width(labels: list[str] | list[None]) -> float:
        found = correlate(x, y, documents=labels, systems=labels, level="flat")
        return found.high - found.low

    assert width(documents) > 1.5 * width([None] * 400)


def test_the_same_seed_gives_the_same_interval() -> None:
    x, y, documents = judged_rows(documents=10, each=4, seed=1)
    one, same_seed, other = (
        correlate(x, y, documents=documents, systems=documents, level="flat", seed=seed) for seed in (0, 0, 1)
    )
    assert one == same_seed
    assert one.low != other.low
    assert one.pearson == other.pearson


def test_a_thousand_resamples_of_1600_rows_take_little_time() -> None:
    x, y, documents = judged_rows(documents=100, each=16, seed=0)
    systems = [f"s{n % 16}" for n in range(1600)]
    correlate(x, y, documents=documents, systems=systems, level="flat")  # imports SciPy
    start = time.perf_counter()
    for level in LEVELS:
        correlate(x, y, documents=documents, systems=systems, level=level)
    assert time.perf_counter() - start < 1


def test_benchmark_rows_have_exactly_the_documented_keys() -> None:
    found = correlate([1.0, 2, 3], [1.0, 3, 2], documents="abc", systems="xyz", level="document")
    row = benchmark_row("task", "speed", "value", "fluency", found, "speed|version=1")
    keys = "task metric part dimension level n n_undefined pearson spearman kendall low high signature"
    assert " ".join(row) == keys
    assert row["n"] == 0
    assert row["pearson"] is None
    assert json.loads(json.dumps(row, allow_nan=False)) == row
