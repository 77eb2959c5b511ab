"""Options of SUM-QE."""

from dataclasses import dataclass
from typing import Literal

Dimension = Literal["mean", "grammaticality", "non_redundancy", "referential_clarity", "focus", "coherence"]


@dataclass(frozen=True, slots=True)
class SumQEOptions:
    """Options of SUM-QE.

    Args:
        dimension: Quality reported as the value; `mean` is the mean of the five qualities.
        spans: Whether to compute the effect of each sentence on the value, by leaving it out. Requires one
            additional forward pass per sentence.
        language: Language of the model. With `en`, candidates that are not English are flagged, and those
            with almost no English words have no value. Other languages, such as `xx`, are not checked.
    """

    dimension: Dimension = "mean"
    spans: bool = False
    language: str = "en"
