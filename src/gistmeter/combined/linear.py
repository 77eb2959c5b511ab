"""Linear combinations of metric scores."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gistmeter.core.score import Score

VALUE = "value"
"""The part name that selects a score's value."""


@dataclass(frozen=True, slots=True)
class Term:
    """One standardized feature with its weight.

    Args:
        spec: The metric, such as `speed:against=source`.
        part: A component of its score, or `value`.
        mean: Mean of the feature on the development rows; stands in for an undefined feature.
        scale: Standard deviation there.
        weight: Weight of the standardized feature.
    """

    spec: str
    part: str
    mean: float
    scale: float
    weight: float

    def of(self, scores: Mapping[str, Score]) -> float:
        """Return the weighted, standardized feature; 0 if it is undefined."""
        value = feature(scores[self.spec], self.part)
        return 0.0 if math.isnan(value) else self.weight * (value - self.mean) / self.scale


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear combination, limited to a range.

    Args:
        intercept: The result if every feature has its mean.
        terms: The features.
        low: The least result.
        high: The greatest result.
    """

    intercept: float
    terms: tuple[Term, ...]
    low: float
    high: float

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "Linear":
        """Read back what `to_dict` returned.

        Raises:
            KeyError, TypeError, ValueError: If the content is not what `to_dict` returns.
        """
        terms = tuple(Term(**term) for term in facts["terms"])
        return cls(float(facts["intercept"]), terms, float(facts["low"]), float(facts["high"]))

    def to_dict(self) -> dict[str, Any]:
        """Return the combination as JSON values."""
        return asdict(self)

    def of(self, scores: Mapping[str, Score]) -> float:
        """Return the combination of the scores of one example."""
        found = self.intercept + math.fsum(term.of(scores) for term in self.terms)
        return min(max(found, self.low), self.high)


def feature(score: Score, part: str) -> float:
    """Return a component of a score, or its value; NaN if there is none."""
    return score.value if part == VALUE else float(score.parts.get(part, math.nan))
