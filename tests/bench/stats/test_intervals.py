"""Compare bootstrap intervals with a plain loop, and measure their coverage of a known value."""

import math
import time
import tracemalloc

import numpy as np
import pytest

from gistmeter.bench.stats.correlate import Drawn, correlate
from gistmeter.bench.stats.resampling import Floats
from gistmeter.core.bootstrap import draw_groups, group_weights
from gistmeter.core.levels import Level

LEVELS: tuple[Level, ...] = ("pooled", "summary", "system")


def same(found: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def r(x: Floats, y: Floats) -> float:
    return float(np.corrcoef(x, y)[0, 1]) if np.ptp(x) and np.ptp(y) else math.nan


def mean(numbers: list[float]) -> float:
    defined = [number for number in numbers if not math.isnan(number)]
    return sum(defined) / len(defined) if defined else math.nan


def judged_rows(*, documents: int, each: int, seed: int) -> tuple[Floats, Floats, list[str]]:
    """Draw rows with a correlation of 0.5, over documents and within, whose documents differ."""
    rng = np.random.default_rng(seed)
    covariance = [[1, 0.5], [0.5, 1]]
    noise = rng.multivariate_normal([0, 0], covariance, size=(documents, each))
    noise += rng.multivariate_normal([0, 0], covariance, size=(documents, 1))
    x, y = noise.reshape(-1, 2).T
    return x, y, [f"d{n // each}" for n in range(documents * each)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("by", ["summary", "system"])
def test_intervals_are_those_of_a_plain_loop(by: Drawn, level: Level) -> None:
    x, y, documents = judged_rows(documents=12, each=4, seed=1)
    x, y = 100 + 3 * x, 5 + y
    systems = [f"s{n % 4}" for n in range(48)]
    keep = [n for n in range(48) if n not in (3, 7, 20)]  # documents without all their systems
    x, y = x[keep], y[keep]
    documents, systems = [documents[n] for n in keep], [systems[n] for n in keep]
    labels = documents if by == "summary" else systems
    names = sorted(set(labels))
    drawn = []
    for counts in group_weights(names, resamples=300, seed=5):
        # Each drawing is a table of its own, in which a document or system drawn twice is two of them.
        copies = [(name, copy) for name in names for copy in range(counts[names.index(name)])]
        rows = [(n, copy) for name, copy in copies for n in range(45) if labels[n] == name]
        own = {"pooled": "", "summary": documents, "system": systems}[level]
        keys = [(own[n] if own else "", copy if by == level else 0) for n, copy in rows]
        groups = [[n for (n, _), k in zip(rows, keys, strict=True) if k == key] for key in sorted(set(keys))]
        if level == "system":
            means = np.array([[side[group].mean() for group in groups] for side in (x, y)])
            drawn.append(r(*means))
        else:
            drawn.append(mean([r(x[group], y[group]) for group in groups]))
    found = correlate(x, y, documents=documents, systems=systems, level=level, by=by, resamples=300, seed=5)
    same([found.low, found.high], list(np.nanquantile(drawn, [0.025, 0.975])))


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
    found = correlate(x, y, documents=documents, systems=documents, level="pooled", resamples=200)
    assert len(drawn) < 200
    same([found.low, found.high], list(np.quantile(drawn, [0.025, 0.975])))


@pytest.mark.parametrize(("level", "documents_drawn"), [("pooled", 50), ("summary", 25)])
def test_intervals_cover_a_known_truth_as_often_as_they_say(level: Level, documents_drawn: int) -> None:
    covered = 0
    for seed in range(100):
        x, y, documents = judged_rows(documents=documents_drawn, each=1000 // documents_drawn, seed=seed)
        found = correlate(x, y, documents=documents, systems=[None] * len(x), level=level, resamples=400)
        covered += found.low <= 0.5 <= found.high
    assert 90 <= covered <= 99


def test_intervals_by_system_cover_the_truth_for_other_systems() -> None:
    covered = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        quality = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=60)  # of the systems
        x, y = np.repeat(quality, 3, axis=0).T
        found = correlate(
            x,
            y,
            documents=list("abc") * 60,
            systems=[f"s{n // 3}" for n in range(180)],
            level="system",
            by="system",
            resamples=400,
        )
        covered += found.low <= 0.5 <= found.high
    assert 90 <= covered <= 99


def test_an_interval_by_document_is_wider_than_one_by_row() -> None:
    x, y, documents = judged_rows(documents=40, each=10, seed=3)

    def width(labels: list[str] | list[None]) -> float:
        found = correlate(x, y, documents=labels, systems=labels, level="pooled")
        return found.high - found.low

    assert width(documents) > 1.5 * width([None] * 400)


def test_the_same_seed_gives_the_same_interval() -> None:
    x, y, documents = judged_rows(documents=10, each=4, seed=1)
    one, same_seed, other = (
        correlate(x, y, documents=documents, systems=documents, level="pooled", seed=seed)
        for seed in (0, 0, 1)
    )
    assert one == same_seed
    assert one.low != other.low
    assert one.pearson == other.pearson


def test_a_thousand_resamples_of_1600_rows_take_little_time() -> None:
    x, y, documents = judged_rows(documents=100, each=16, seed=0)
    systems = [f"s{n % 16}" for n in range(1600)]
    correlate(x, y, documents=documents, systems=systems, level="pooled")  # imports SciPy
    start = time.process_time()
    for level in LEVELS:
        correlate(x, y, documents=documents, systems=systems, level=level)
    assert time.process_time() - start < 1


def test_a_long_name_of_a_document_costs_no_memory() -> None:
    names = ["x" * 100_000, *(f"d{at}" for at in range(5000))]
    tracemalloc.start()
    weights = group_weights(names, resamples=2, seed=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000
    assert weights.sum(axis=1).tolist() == [5001, 5001]
    in_order = np.unique(np.array(names[1:]), return_inverse=True)[1]
    drawn = draw_groups(5000, resamples=2, seed=0)
    assert (group_weights(names[1:], resamples=2, seed=0) == drawn[:, in_order]).all()


def test_intervals_of_one_document() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    x = y + rng.normal(size=60)

    def run(documents: list[str | None], level: Level) -> tuple[float, float]:
        found = correlate(x, y, documents=documents, systems=["x", "y", "z"] * 20, level=level)
        return found.low, found.high

    assert run(["a"] * 60, "pooled") == run([None] * 60, "pooled")
    assert -1 < run([None] * 60, "pooled")[0] < run([None] * 60, "pooled")[1] < 1
    for level in LEVELS[1:]:
        assert all(map(math.isnan, run(["a"] * 60, level) + run([None] * 60, level)))
