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
        language: The regressor's. A candidate that does not read as English is flagged if this is `en`, and
            has no value if it holds hardly an English word; nothing is checked for any other, such as `xx`.
    """

    dimension: Dimension = "mean"
    spans: bool = False
    language: str = "en"
