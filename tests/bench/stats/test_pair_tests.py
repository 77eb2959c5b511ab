"""Compare tests of one difference with published values and with hand-computed values."""

import math
from itertools import product

import numpy as np
import pytest

from gistmeter.bench.stats.pair_tests import bootstrap_p, draw_signs, holm, permutation_p, williams


def test_williams_is_the_published_one() -> None:
    # Silver, Hittner & May (2006), "A FORTRAN 77 program for comparing dependent correlations", as the R
    # package cocor quotes it in its tests (tests/testthat/test-comparisons.R).
    t, p = williams(0.3, 0.4, 0.5, 100)
    assert (round(t, 4), round(p, 4)) == (-1.0767, 0.2843)
    # Steiger (1980), case A; printed by r.test(103, .4, .5, .1) of the R package psych.
    t, p = williams(0.4, 0.5, 0.1, 103)
    assert (round(t, 2), round(p, 2)) == (-0.89, 0.37)
    # An example with eight digits in the documentation of the same function.
    _, p = williams(0.693458895410494, 0.695966022434845, 0.988475791500198, 5105)
    assert round(p, 7) == 0.1000759


@pytest.mark.parametrize("case", [(0.3, 0.4, 0.5, 3), (math.nan, 0.4, 0.5, 9), (1.0, -1.0, -1.0, 9)])
def test_williams_without_an_answer(case: tuple[float, float, float, int]) -> None:
    assert all(map(math.isnan, williams(*case)))


def test_williams_tells_a_metric_from_itself_in_nothing() -> None:
    assert williams(0.4, 0.4, 1.0, 50) == (0.0, 1.0)


def test_holm_by_hand() -> None:
    # 0.005 × 4, 0.01 × 3, 0.03 × 2, and 0.04, which may not be below the one before it
    found = holm([0.01, 0.04, math.nan, 0.03, 0.005])
    np.testing.assert_allclose(found, [0.03, 0.06, math.nan, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_p_of_drawings_by_hand() -> None:
    assert bootstrap_p(np.array([0.1, 0.2, -0.1, 0.3, math.nan])) == 2 * (1 + 1) / (1 + 4)
    assert bootstrap_p(np.array([0.0, 1e-17, -1e-17])) == 1.0
    assert math.isnan(bootstrap_p(np.full(3, math.nan)))


def test_the_permutation_test_comes_near_all_exchanges() -> None:
    rng = np.random.default_rng(4)
    human = rng.normal(size=8)
    a, b = 0.2 * human + rng.normal(size=8), 1.5 * human + rng.normal(size=8)
    everywhere = np.zeros(8, dtype=int)
    every = np.array(list(product([-1, 1], repeat=8)), dtype=np.int8).T
    exact = permutation_p(a, b, human, everywhere, every, of_means=False) * 257 / 256 - 1 / 256
    drawn = draw_signs(8, resamples=4000, seed=0)
    assert 0.01 < exact < 0.5
    assert permutation_p(a, b, human, everywhere, drawn, of_means=False) == pytest.approx(exact, abs=0.03)
