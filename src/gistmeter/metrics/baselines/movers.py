"""Earth mover's distance between two bags of vectors, with references: what SMS and MoverScore share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.score import Span
from gistmeter.matching.transport import transport

FloatArray = NDArray[np.floating[Any]]
References = Literal["max", "mean"]


@dataclass(frozen=True, slots=True, eq=False)
class Bag:
    """Units of a text, such as sentences or words.

    Args:
        text: Text of the units.
        places: First character and one past the last of each unit.
        vectors: Vector of each unit, shape (units, dimensions).
        masses: Mass of each unit, above 0, shape (units,).
    """

    text: str
    places: Sequence[tuple[int, int]]
    vectors: FloatArray
    masses: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """Optimal move of a candidate to a reference.

    Args:
        theirs: Units of the reference.
        distance: Earth mover's distance, with Euclidean distances between vectors.
        costs: Mean distance that the mass of each candidate unit moves, shape (units,).
        partners: Reference unit that receives most of the mass of each candidate unit, shape (units,).
    """

    theirs: Bag
    distance: float
    costs: NDArray[np.float64]
    partners: NDArray[np.intp]


def move(ours: Bag, theirs: Bag) -> Move:
    """Move the mass of a candidate to a reference at the lowest cost."""
    from scipy.spatial.distance import cdist

    cost = cdist(ours.vectors, theirs.vectors)
    flow = transport(cost, ours.masses, theirs.masses)
    costs = (flow * cost).sum(axis=1) / flow.sum(axis=1)
    return Move(theirs, float((flow * cost).sum()), costs, flow.argmax(axis=1))


def moves(ours: Bag, others: Sequence[Bag], references: References) -> tuple[float, list[Move]]:
    """Move a candidate to each reference.

    Returns:
        The distance to the closest reference (`max`) or the mean distance, and the moves that it comes from.
    """
    found = [move(ours, other) for other in others]
    if references == "max":
        found = [found[int(np.argmin([each.distance for each in found]))]]
    return float(np.mean([each.distance for each in found])), found


def unit_spans(ours: Bag, found: Sequence[Move]) -> tuple[Span, ...]:
    """Return one span per candidate unit: 1 minus the mean distance that it moves, and its closest partner.

    The mean of the spans, weighted by their masses, is 1 minus the distance.
    """
    costs = np.mean([each.costs for each in found], axis=0)
    weights = ours.masses * len(ours.masses) / ours.masses.sum()
    spans = []
    for at, (start, end) in enumerate(ours.places):
        closest = min(found, key=lambda each: float(each.costs[at]))
        first, last = closest.theirs.places[closest.partners[at]]
        note = closest.theirs.text[first:last]
        spans.append(Span("candidate", start, end, float(1 - costs[at]), float(weights[at]), note))
    return tuple(spans)
