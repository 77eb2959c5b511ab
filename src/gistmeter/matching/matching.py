"""Greedy and optimal matching, and the means over them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
NOBODY = -1


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """A partner for each row of a similarity matrix.

    Args:
        partner: The column of each row, or -1 where it has none, shape (rows,).
        similarity: To that partner; NaN where there is none, shape (rows,).
    """

    partner: NDArray[np.intp]
    similarity: NDArray[np.float64]


def greedy(similarity: FloatArray) -> Matching:
    """Give each row its most similar column; a column may serve many rows.

    Args:
        similarity: Shape (rows, columns), both at least 1. Among equals the first column wins.

    >>> greedy(np.array([[0.9, 0.1], [0.8, 0.3]])).partner
    array([0, 0])
    """
    partner = similarity.argmax(axis=1)
    return Matching(partner, similarity[np.arange(len(similarity)), partner].astype(np.float64))


def optimal(similarity: FloatArray) -> Matching:
    """Pair rows and columns one to one so that the sum of similarities is largest (Kuhn, 1955).

    Args:
        similarity: Shape (rows, columns), both at least 1. The longer side keeps some without partner.

    >>> optimal(np.array([[0.9, 0.1], [0.8, 0.3]])).partner
    array([0, 1])
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(similarity, maximize=True)
    partner = np.full(len(similarity), NOBODY)
    partner[rows] = columns
    best = np.full(len(similarity), math.nan)
    best[rows] = similarity[rows, columns]
    return Matching(partner, best)


def weighted_mean(values: FloatArray, weights: FloatArray | None = None) -> float:
    """Return the mean of values; NaN if there are none, or the weights sum to 0."""
    weights = np.ones(len(values)) if weights is None else weights
    total = float(weights.sum())
    return float(values @ weights) / total if total else math.nan


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean; 0 where one of the two is not above 0.

    >>> f1(0.5, 1.0)
    0.6666666666666666
    """
    if precision <= 0 or recall <= 0:
        return 0.0
    return 2 * precision * recall / (precision + recall)
