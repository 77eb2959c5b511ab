"""Test the earth mover's distance against a linear program over all cells, and the assignment problem."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from gistmeter.matching import transport as module
from gistmeter.matching.transport import transport


def whole_program(cost: Any, supply: Any, demand: Any) -> float:  # noqa: ANN401 - arrays of any kind
    rows, columns = cost.shape
    sums = [np.repeat(np.eye(rows)[at], columns) for at in range(rows)]
    sums += [np.tile(np.eye(columns)[at], rows) for at in range(columns)]
    limits = [*(supply / supply.sum()), *(demand / demand.sum())]
    found: Any = linprog(cost.ravel(), A_eq=np.array(sums), b_eq=limits, bounds=(0, None))
    return float(found.fun)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 14), st.integers(1, 14), st.integers(0, 2**32 - 1), st.booleans())
def test_the_flow_moves_all_mass_at_the_lowest_cost(rows: int, columns: int, seed: int, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    cost = rng.integers(0, 4, (rows, columns)).astype(float) if whole else rng.random((rows, columns))
    supply, demand = rng.integers(1, 5, rows) + 0.0, rng.integers(1, 5, columns) + 0.0
    flow = transport(cost, supply, demand)
    np.testing.assert_allclose(flow.sum(axis=1), supply / supply.sum(), atol=1e-9)
    np.testing.assert_allclose(flow.sum(axis=0), demand / demand.sum(), atol=1e-9)
    assert flow.min() >= 0
    assert (flow * cost).sum() == pytest.approx(whole_program(cost, supply, demand), abs=1e-8)


def test_equal_masses_of_equal_numbers_are_an_assignment() -> None:
    cost = np.random.default_rng(1).random((40, 40))
    best = cost[linear_sum_assignment(cost)].mean()
    assert (transport(cost) * cost).sum() == pytest.approx(best, abs=1e-9)


def test_cells_that_turn_out_profitable_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NEAREST", 1)
    rng = np.random.default_rng(2)
    cost, ones = rng.random((12, 9)), (np.ones(12), np.ones(9))
    assert (transport(cost) * cost).sum() == pytest.approx(whole_program(cost, *ones), abs=1e-9)
