"""Earth mover's distance: the cheapest way to move the mass of one text to another."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
NEAREST = 8
"""Cheapest cells of each row and column that the first linear program contains."""
TOLERANCE = 1e-9


def transport(
    cost: FloatArray, supply: FloatArray | None = None, demand: FloatArray | None = None
) -> NDArray[np.float64]:
    """Return the flow (rows, columns) that moves all mass at the lowest total cost (Rubner et al., 2000).

    The linear program starts with the cheapest cells. Cells that its dual solution shows to be profitable are
    added until there are none, so the result is exact.

    Args:
        cost: Cost of moving one unit from a row to a column, shape (rows, columns), both at least 1.
        supply: Mass of each row, above 0; by default equal. Masses are scaled to a sum of 1.
        demand: Mass of each column, likewise.

    Raises:
        ArithmeticError: If the solver fails.

    >>> transport(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([3.0, 1.0])).tolist()
    [[0.5, 0.25], [0.0, 0.25]]
    """
    costs: NDArray[np.float64] = np.asarray(cost, dtype=np.float64)
    given, wanted = (_masses(mass, size) for mass, size in zip((supply, demand), costs.shape, strict=True))
    if min(costs.shape) == 1:
        return np.outer(given, wanted)
    allowed = _corner(given, wanted) | _cheapest(costs, 1) | _cheapest(costs, 0)
    while True:
        flow, reduced = _solve(costs, given, wanted, allowed)
        profitable = (reduced < -TOLERANCE) & ~allowed
        if not profitable.any():
            return flow
        allowed |= profitable


def _masses(mass: FloatArray | None, size: int) -> NDArray[np.float64]:
    masses = np.ones(size) if mass is None else np.asarray(mass, dtype=np.float64)
    shares: NDArray[np.float64] = masses / masses.sum()
    return shares


def _corner(supply: NDArray[np.float64], demand: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the cells of one feasible flow, in which mass moves in the order of the rows and columns."""
    cells = np.zeros((len(supply), len(demand)), dtype=bool)
    row_ends, column_ends = supply.cumsum(), demand.cumsum()
    edges = np.sort(np.concatenate([row_ends[:-1], column_ends[:-1]]))
    # Both sides of each edge, because of rounding.
    points = np.concatenate([[0.0], edges - TOLERANCE, edges + TOLERANCE, [1.0 - TOLERANCE]])
    rows = np.searchsorted(row_ends[:-1], points, side="right")
    columns = np.searchsorted(column_ends[:-1], points, side="right")
    cells[rows, columns] = True
    return cells


def _cheapest(cost: NDArray[np.float64], axis: int) -> NDArray[np.bool_]:
    """Return the cheapest cells along an axis; ties may go either way."""
    cells = np.zeros(cost.shape, dtype=bool)
    count = min(NEAREST, cost.shape[axis])
    np.put_along_axis(cells, np.argpartition(cost, count - 1, axis=axis).take(range(count), axis), True, axis)
    return cells


def _solve(
    cost: NDArray[np.float64],
    supply: NDArray[np.float64],
    demand: NDArray[np.float64],
    allowed: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the best flow through the allowed cells, and the reduced cost of every cell."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    rows, columns = np.nonzero(allowed)
    cells = np.arange(len(rows))
    ones = np.ones(2 * len(rows))
    places = (np.concatenate([rows, len(supply) + columns]), np.concatenate([cells, cells]))
    sums: Any = csc_array((ones, places), shape=(len(supply) + len(demand), len(rows)))
    # The last column's sum follows from the others; stated again, rounding could contradict it.
    limits = np.concatenate([supply, demand])[:-1]
    found: Any = linprog(cost[allowed], A_eq=sums[:-1], b_eq=limits, bounds=(0, None), method="highs-ds")
    if found.status != 0:
        raise ArithmeticError(f"no optimal flow: {found.message}")
    flow = np.zeros(cost.shape)
    flow[allowed] = found.x
    prices = np.append(found.eqlin.marginals, 0.0)
    return flow, cost - prices[: len(supply), None] - prices[None, len(supply) :]
