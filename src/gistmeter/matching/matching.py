"""Greedy and optimal matching of a similarity matrix, and means over matches."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
NOBODY = -1


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """The matched column of each row of a similarity matrix.

    Args:
        partner: The index of the matched column, or -1 for an unmatched row, shape (rows,).
        similarity: The similarity to the matched column; NaN for an unmatched row, shape (rows,).
    """

    partner: NDArray[np.intp]
    similarity: NDArray[np.float64]


def greedy(similarity: FloatArray) -> Matching:
    """Match each row to its most similar column; several rows may match the same column.

    Args:
        similarity: Shape (rows, columns), both at least 1. Ties go to the first column.

    >>> greedy(np.array([[0.9, 0.1], [0.8, 0.3]])).partner
    array([0, 0])
    """
    partner = similarity.argmax(axis=1)
    return Matching(partner, similarity[np.arange(len(similarity)), partner].astype(np.float64))


def optimal(similarity: FloatArray) -> Matching:
    """Match rows to columns one to one, maximizing the sum of similarities (Kuhn, 1955).

    Args:
        similarity: Shape (rows, columns), both at least 1. In a non-square matrix, some rows or columns stay
            unmatched.

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
    """Return the weighted mean of values; NaN if there are no values or the weights sum to 0."""
    weights = np.ones(len(values)) if weights is None else weights
    total = float(weights.sum())
    return float(values @ weights) / total if total else math.nan


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall; 0 if either is 0 or negative.

    >>> f1(0.5, 1.0)
    0.6666666666666666
    """
    return f_beta(precision, recall, 1.0)


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Return the weighted harmonic mean of precision and recall; 0 if either is 0 or negative.

    Args:
        precision: Precision.
        recall: Recall.
        beta: Weight of recall relative to precision, above 0 (van Rijsbergen 1979, chapter 7).

    >>> round(f_beta(0.5, 1.0, 0.5), 4)
    0.5556
    """
    if precision <= 0 or recall <= 0:
        return 0.0
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
