"""What can be chosen about SUM-QE."""

from dataclasses import dataclass
from typing import Literal

Dimension = Literal["mean", "grammaticality", "non_redundancy", "referential_clarity", "focus", "coherence"]


@dataclass(frozen=True, slots=True)
class SumQEOptions:
    """Options of SUM-QE.

    Args:
        dimension: Which quality the value is; `mean` is the mean of the five.
        spans: Whether every sentence is left out once, to see how the value moves: as many passes as there
            are sentences.
    """

    dimension: Dimension = "mean"
    spans: bool = False
