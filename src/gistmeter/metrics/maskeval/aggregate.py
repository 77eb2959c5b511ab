"""Aggregate word predictions into the score of one side (MaskEval, equation 5)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from gistmeter.core.example import Side
from gistmeter.core.score import Flag, Span
from gistmeter.metrics.maskeval.masks import Masked
from gistmeter.metrics.maskeval.options import Scoring
from gistmeter.metrics.maskeval.tokenized import TokenizedText
from gistmeter.metrics.maskeval.weights import FloatArray
from gistmeter.metrics.maskeval.word_scores import word_score
from gistmeter.models.fill.protocol import Fill

OTHER: dict[Side, Side] = {"candidate": "source", "source": "candidate"}
TOO_LONG = "too long for the model's window"
NOTHING = "(nothing)"


@dataclass(frozen=True, slots=True)
class Asked:
    """Text of a pair with its word weights and masked sequences.

    Args:
        side: Side of the text: candidate or source.
        tokenized: Sub-words and words of the text.
        weights: Weights of all N words, shape (N,).
        masked: Sequences in which the chosen words are blanked.
    """

    side: Side
    tokenized: TokenizedText
    weights: FloatArray
    masked: Masked


@dataclass(frozen=True, slots=True)
class SideScore:
    """Score of one side of a pair.

    Args:
        value: Weighted mean over the chosen words; NaN if no word could be predicted.
        spans: One span per chosen word, in text order; the weights sum to 1.
        flags: Flags for text that exceeds the model's window.
    """

    value: float
    spans: tuple[Span, ...]
    flags: tuple[Flag, ...]


def score_side(
    asked: Asked,
    fills: Sequence[Sequence[Fill]],
    priors: Sequence[Sequence[Fill]],
    scoring: Scoring,
    decode: Callable[[Sequence[int]], str],
) -> SideScore:
    """Return the weighted mean of the word scores of one side, with its spans and flags.

    Args:
        asked: Text with weights and masked sequences.
        fills: Predictions: for each sequence, one per blank.
        priors: Predictions without the other text, whose word scores are subtracted; empty to subtract
            nothing.
        scoring: Score of a single word.
        decode: Function that converts token IDs to text.
    """
    words = [word for run in asked.masked.words for word in run]
    answers = dict(zip(words, chain.from_iterable(fills), strict=True))
    alone = dict(zip(words, chain.from_iterable(priors), strict=True)) if priors else {}
    total = math.fsum(asked.weights[word] for word in answers)
    spans = []
    for word in sorted([*answers, *asked.masked.too_long]):
        segment, fill = asked.tokenized.words[word], answers.get(word)
        place = (asked.side, segment.start, segment.end)
        if fill is None or total == 0:
            spans.append(Span(*place, math.nan, 0.0, TOO_LONG if fill is None else said(fill, decode)))
        else:
            weight = float(asked.weights[word]) / total
            prior = word_score(alone[word], scoring) if alone else 0.0
            spans.append(Span(*place, word_score(fill, scoring) - prior, weight, said(fill, decode)))
    scored = [span.value * span.weight for span in spans if span.weight]
    value = math.fsum(scored) if scored else math.nan
    return SideScore(value, tuple(spans), _flags(asked))


def said(fill: Fill, decode: Callable[[Sequence[int]], str]) -> str:
    """Return the predicted text, or an empty string if the prediction matches the word.

    An ellipsis at the end means that the prediction was not completed, because it already differs.
    """
    if fill.matches:
        return ""
    text = decode(fill.predicted).strip()
    return (text or NOTHING) if fill.complete else f"{text}…"


def _flags(asked: Asked) -> tuple[Flag, ...]:
    """Flag truncated context (smallest amount over all sequences) and words that exceed the window."""
    masked = asked.masked
    flags = []
    if masked.kept < masked.total:
        flags.append(Flag("truncated_context", OTHER[asked.side], masked.kept, masked.total))
    if masked.too_long:
        kept = _length(asked, [word for run in masked.words for word in run])
        lost = _length(asked, masked.too_long)
        flags.append(Flag("too_long", asked.side, kept, kept + lost))
    return tuple(flags)


def _length(asked: Asked, words: Sequence[int]) -> int:
    return sum(len(asked.tokenized.words[word].tokens) for word in words)
