"""Estimate the probability that a sentence has no support in the source."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gistmeter.core.score import Score, Span

LARGEST = 700.0  # exponent that a float holds
FEATURES = ("entailment", "similarity", "facts", "worst_fact", "names", "denials")
"""Features of a sentence; higher is better.

`entailment`: p(entailment) given the closest source sentences, minus a share of p(contradiction); unknown
without the member.
`similarity`: cosine to the closest source sentence. `facts`, `worst_fact`: geometric mean and minimum of the
probabilities of its facts. `names`: 0 if the source lacks a name or number of the sentence, otherwise 1.
`denials`: 0 if the source denies the sentence or states what it denies, otherwise 1.
"""


@dataclass(frozen=True, slots=True)
class Sentence:
    """What the members say about one sentence of the candidate.

    Args:
        start: Offset of the first character.
        end: Offset after the last character.
        features: In the order of `FEATURES`; NaN if unknown, such as the facts of a sentence without any.
        evidence: The closest sentence of the source.
        doubt: The fact with the lowest probability, with the model's answer as note; None if there is none.
        absent: Names and numbers that the source lacks.
        denial: What the source says against it; empty if nothing.
    """

    start: int
    end: int
    features: tuple[float, ...]
    evidence: str
    doubt: Span | None
    absent: tuple[Span, ...] = ()
    denial: str = ""


@dataclass(frozen=True, slots=True)
class Risk:
    """A logistic model of how likely people are to call a sentence wrong.

    Args:
        intercept: Log-odds if each feature has its mean.
        weights: Change of the log-odds per unit of each feature; none is positive.
        means: Stand in for unknown features.
        alarm: The log-odds from which a sentence counts as unsupported.
    """

    intercept: float
    weights: tuple[float, ...]
    means: tuple[float, ...]
    alarm: float = 0.0

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "Risk":
        """Read the model of a `config.json`.

        Raises:
            KeyError, TypeError, ValueError: If a number is missing.
        """
        weights = tuple(float(facts["weights"][name]) for name in FEATURES)
        means = tuple(float(facts["means"][name]) for name in FEATURES)
        return cls(float(facts["intercept"]), weights, means, float(facts["alarm"]))

    def of(self, features: Sequence[float]) -> float:
        """Return the probability that people call a sentence wrong."""
        return _logistic(self._log_odds(features))

    def of_text(self, sentences: Sequence[Sequence[float]]) -> float:
        """Return the probability that people call a text wrong, given the features of its sentences."""
        return 1 - geometric_mean([1 - self.of(features) for features in sentences])

    def support(self, features: Sequence[float]) -> float:
        """Return the support of a sentence, from 0 to 1: one half at the level of alarm."""
        return _logistic(self.alarm - self._log_odds(features))

    def _log_odds(self, features: Sequence[float]) -> float:
        known = [mean if math.isnan(x) else x for x, mean in zip(features, self.means, strict=True)]
        parts = (w * (x - mean) for w, x, mean in zip(self.weights, known, self.means, strict=True))
        return self.intercept + math.fsum(parts)


def read_sentences(
    similarity: Score, facts: Score, names: Score, denials: Score, entailment: Score | None = None
) -> list[Sentence]:
    """Join what the members say about each sentence.

    Args:
        similarity: By `speed` with cosine similarity, from which the sentences are taken.
        facts: By `cloze`; may have a problem.
        names: By `names`.
        denials: By `denials`.
        entailment: By `speed` with `task=nli`; has the same sentences.
    """
    entailed = {} if entailment is None else {(s.start, s.end): s for s in _ours(entailment)}
    found = []
    for span in _ours(similarity):
        own = [fact for fact in _within(facts, span) if fact.weight > 0]
        absent = tuple(name for name in _within(names, span) if not name.value)
        worst = min(own, key=lambda fact: fact.value, default=None)
        denial = "; ".join(said.note for said in _within(denials, span) if not said.value)
        entails = entailed.get((span.start, span.end))
        features = (
            math.nan if entails is None else entails.value,
            span.value,
            geometric_mean([fact.value for fact in own]),
            math.nan if worst is None else worst.value,
            float(not absent),
            float(not denial),
        )
        # If no premise entails a sentence, the best one is often beside the point; the closest one is not.
        found.append(Sentence(span.start, span.end, features, span.note, worst, absent, denial))
    return found


def _within(score: Score, sentence: Span) -> list[Span]:
    return [span for span in _ours(score) if sentence.start <= span.start < sentence.end]


def _ours(score: Score) -> list[Span]:
    return [span for span in score.spans if span.side == "candidate" and not math.isnan(span.value)]


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(min(-log_odds, LARGEST)))


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of probabilities, at least 10⁻⁶ each; NaN without any."""
    if not values:
        return math.nan
    return math.exp(math.fsum(math.log(max(value, 1e-6)) for value in values) / len(values))
