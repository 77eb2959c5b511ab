"""Compare tests between two systems with SciPy, with their definitions, and on simulated systems."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from scipy import stats

from gistmeter.bench.stats.exchange import exchange_p
from gistmeter.bench.stats.paired import FEW, PairTest, compare_systems, rank_clusters
from gistmeter.bench.stats.pairing import Entry, pair_rows
from gistmeter.bench.stats.power import detectable, documents_needed, power
from gistmeter.bench.stats.resampling import Floats
from gistmeter.core.errors import DataError


def entries(values: Sequence[float] | Floats, documents: list[str] | None = None) -> list[Entry]:
    """Return the rows of one system."""
    return [
        Entry(str(at), documents[at] if documents else None, float(value)) for at, value in enumerate(values)
    ]


def compared(a: Sequence[float] | Floats, b: Sequence[float] | Floats, **more: int) -> PairTest:
    (test,) = compare_systems({"a": entries(a), "b": entries(b)}, **more)
    return test


@pytest.mark.parametrize("documents", [1, 2, 5, 11])
def test_with_few_documents_every_exchange_counts_once(documents: int) -> None:
    x = np.random.default_rng(documents).normal(0.4, 1, documents).round(1)
    sums = [float(np.dot(x, signs)) for signs in product([1, -1], repeat=documents)]
    two_sided = np.mean([abs(total) >= abs(x.sum()) - 1e-9 for total in sums])
    lower = np.mean([total <= x.sum() + 1e-9 for total in sums])
    assert exchange_p(x) == pytest.approx(two_sided)
    assert exchange_p(x, tail="less") == pytest.approx(lower)


@pytest.mark.parametrize("documents", [8, 40])
def test_the_permutation_test_is_that_of_scipy(documents: int) -> None:
    rng = np.random.default_rng(documents)
    a, b = rng.normal(0.3, 1, documents), rng.normal(0, 1, documents)
    theirs = stats.permutation_test(
        (a - b,), np.sum, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    )
    tolerance = 1e-12 if documents == 8 else 0.015  # eight documents have 256 exchanges: both are exact
    assert compared(a, b).p_permutation == pytest.approx(float(theirs.pvalue), abs=tolerance)


def test_for_normal_differences_the_permutation_test_is_close_to_the_t_test() -> None:
    rng = np.random.default_rng(3)
    for shift in (0.0, 0.2, 0.4):
        a, b = rng.normal(shift, 1, 60), rng.normal(0, 1, 60)
        assert compared(a, b).p_permutation == pytest.approx(float(stats.ttest_rel(a, b).pvalue), abs=0.02)


def test_the_interval_is_that_of_scipys_paired_bootstrap() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(0.3, 1, 50), rng.normal(0, 1, 50)
    theirs = stats.bootstrap(
        (a, b),
        lambda x, y, axis=-1: np.mean(x - y, axis=axis),
        paired=True,
        method="percentile",
        n_resamples=9999,
        rng=np.random.default_rng(1),
    ).confidence_interval
    found = compared(a, b)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.05)
    assert found.low < found.difference < found.high


def test_effect_and_wins_are_those_of_their_definitions() -> None:
    a, b = [3.0, 2.0, 5.0, 4.0], [1.0, 2.0, 4.0, 5.0]
    found, differences = compared(a, b), [2.0, 0.0, 1.0, -1.0]
    assert found.difference == 0.5
    assert found.effect == pytest.approx(0.5 / np.std(differences, ddof=1))
    assert found.wins == (1 + 0.5 + 1 + 0) / 4


def test_rows_of_one_document_are_exchanged_and_drawn_together() -> None:
    documents = [f"d{at // 20}" for at in range(200)]
    rng = np.random.default_rng(2)
    of_documents = np.repeat(rng.normal(0, 1, 10), 20)
    a, b = of_documents + rng.normal(0, 0.1, 200), np.zeros(200)
    (clustered,) = compare_systems({"a": entries(a, documents), "b": entries(b, documents)})
    alone = compared(a, b)
    assert (clustered.n, clustered.documents, alone.documents) == (200, 10, 200)
    assert clustered.high - clustered.low > 2 * (alone.high - alone.low)
    assert clustered.p_permutation > alone.p_permutation
    means = a.reshape(10, 20).mean(axis=1)
    assert clustered.effect == pytest.approx(means.mean() / means.std(ddof=1))


def test_undefined_and_unmatched_rows_are_left_out_and_counted() -> None:
    nan = math.nan
    a = entries([1.0, 2.0, nan, 4.0, 9.0])
    b = entries([0.0, nan, 1.0, 1.0])
    (found,) = compare_systems({"a": a, "b": b})
    assert (found.n, found.n_undefined, found.n_unmatched) == (2, 2, 1)
    assert found.difference == 2.0


def test_rows_match_by_document_where_ids_do_not() -> None:
    a = [Entry("1", "x", 1.0), Entry("2", "x", 2.0), Entry("3", "y", 3.0), Entry("4", "z", 4.0)]
    b = [Entry("1", "y", 30.0), Entry("2", "x", 10.0), Entry("3", "x", 20.0), Entry("4", "w", 0.0)]
    paired = pair_rows(a, b, names=("a", "b"))
    assert list(paired.a) == [1.0, 2.0, 3.0]
    assert list(paired.b) == [10.0, 20.0, 30.0]
    assert paired.n_unmatched == 2


def test_a_document_with_more_rows_in_one_system_is_left_out() -> None:
    a = [Entry("a1", "x", 1.0), Entry("a2", "x", 2.0), Entry("a3", "y", 3.0)]
    b = [Entry("b1", "x", 10.0), Entry("b2", "y", 30.0)]
    paired = pair_rows(a, b, names=("a", "b"))
    assert list(paired.b) == [30.0]
    assert paired.n_unmatched == 3


def test_rows_that_cannot_be_matched_are_an_error() -> None:
    with pytest.raises(DataError, match="share neither ids nor documents"):
        pair_rows([Entry("1", None, 1.0)], [Entry("2", None, 1.0)], names=("a", "b"))
    with pytest.raises(DataError, match="the id 1 stands 2 times in b"):
        pair_rows([Entry("1", None, 1.0)], [Entry("1", None, 1.0)] * 2, names=("a", "b"))


def test_fewer_than_ten_documents_are_never_significant() -> None:
    for documents in (FEW - 1, FEW):
        values = np.linspace(1, 2, documents)
        found = compared(values, values - 1 - values / 10)
        assert found.p_holm < 0.01 < found.low
        assert found.significant == (documents == FEW)


def test_equal_systems_have_p_1_and_no_effect() -> None:
    found = compared([0.1, 0.2, 0.3] * 5, [0.1, 0.2, 0.3] * 5)
    assert (found.difference, found.p_permutation, found.p_bootstrap, found.wins) == (0.0, 1.0, 1.0, 0.5)
    assert math.isnan(found.effect)
    assert math.isnan(found.detectable)
    assert found.documents_needed is None


def test_holm_corrects_over_all_pairs() -> None:
    rng = np.random.default_rng(1)
    systems = {name: entries(rng.normal(at / 2, 1, 30)) for at, name in enumerate("abc")}
    tests = compare_systems(systems)
    assert [(test.a, test.b) for test in tests] == [("a", "b"), ("a", "c"), ("b", "c")]
    least = min(tests, key=lambda test: test.p_permutation)
    assert least.p_holm == pytest.approx(min(1.0, 3 * least.p_permutation))


def test_ranks_begin_where_all_above_differ_from_all_below() -> None:
    def pair(a: str, b: str, *, apart: bool) -> PairTest:
        ends = (0.1, 0.3) if apart else (-0.1, 0.3)
        p = 0.001 if apart else 0.5
        return PairTest(a, b, 20, 20, 0, 0, difference=0.2, low=ends[0], high=ends[1], p_holm=p)

    tests = [pair("x", "y", apart=False), pair("x", "z", apart=True), pair("y", "z", apart=True)]
    assert rank_clusters(["x", "y", "z"], tests) == {"x": 1, "y": 1, "z": 2}
    tests[2] = pair("y", "z", apart=False)
    assert rank_clusters(["x", "y", "z"], tests) == {"x": 1, "y": 1, "z": 1}


@pytest.mark.slow
@pytest.mark.parametrize("documents", [9, 25])
def test_alike_systems_differ_in_five_of_a_hundred_tests(documents: int) -> None:
    rng = np.random.default_rng(documents)
    # Skewed and discrete, as scores are; only exchangeable within a document.
    draws = rng.integers(0, 8, size=(1000, 2, documents)) ** 2 / 49
    p = np.array([exchange_p(a - b, exchanges=999, seed=at) for at, (a, b) in enumerate(draws)])
    lower = np.array(
        [exchange_p(a - b, tail="less", exchanges=999, seed=at) for at, (a, b) in enumerate(draws)]
    )
    assert 0.03 <= (p <= 0.05).mean() <= 0.07
    assert 0.03 <= (lower <= 0.05).mean() <= 0.07


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 3])
def test_the_interval_covers_the_true_difference_in_about_95_of_100(rows: int) -> None:
    rng = np.random.default_rng(rows)
    documents = [f"d{at // rows}" for at in range(40 * rows)]
    inside = 0
    for seed in range(400):
        of_documents = np.repeat(rng.normal(0, 1, 40), rows)  # what the rows of a document have in common
        a = 0.3 + of_documents + rng.normal(0, 0.5, 40 * rows)
        (found,) = compare_systems(
            {"a": entries(a, documents), "b": entries(np.zeros(40 * rows), documents)},
            exchanges=40,
            seed=seed,
        )
        inside += found.low <= 0.3 <= found.high
    assert 0.92 <= inside / 400 <= 0.975


@pytest.mark.slow
@pytest.mark.parametrize(("documents", "shift"), [(15, 0.8), (40, 0.4), (40, 0.0)])
def test_the_power_formula_agrees_with_simulated_tests(documents: int, shift: float) -> None:
    rng = np.random.default_rng(documents)
    draws = rng.normal(shift, 1, size=(1000, documents))
    found = np.mean([exchange_p(x, exchanges=999, seed=at) <= 0.05 for at, x in enumerate(draws)])
    assert found == pytest.approx(max(power(shift, 1.0, documents), 0.05), abs=0.04)


def test_detectable_difference_and_documents_needed_are_inverse_to_power() -> None:
    for documents in (10, 50, 400):
        least = detectable(0.3, documents)
        assert power(least, 0.3, documents) == pytest.approx(0.8, abs=1e-6)
        assert documents_needed(least * 1.0001, 0.3) == documents
    assert documents_needed(0.0, 1.0) is None
    assert documents_needed(1e-9, 1.0) is None
    assert documents_needed(100.0, 1.0) is not None
