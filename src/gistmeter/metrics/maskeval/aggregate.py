"""From predictions to the score of one side, with a span for every word (MaskEval, equation 5)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    """One text of a pair and what the model is asked about it.

    Args:
        side: Which text.
        tokenized: Its words.
        weights: Of all N words.
        masked: The sequences in which some are blanked.
    """

    side: Side
    tokenized: TokenizedText
    weights: FloatArray
    masked: Masked


@dataclass(frozen=True, slots=True)
class SideScore:
    """What one side comes to.

    Args:
        value: The weighted mean over its words; NaN if none could be asked for.
        spans: One a word that was chosen, in text order; their weights add up to 1.
        flags: What did not fit.
    """

    value: float
    spans: tuple[Span, ...]
    flags: tuple[Flag, ...]


def score_side(
    asked: Asked, fills: Sequence[Sequence[Fill]], scoring: Scoring, decode: Callable[[Sequence[int]], str]
) -> SideScore:
    """Take the weighted mean of a side's word scores.

    Args:
        asked: What the model was asked.
        fills: Its answers: for each sequence, one a blank.
        scoring: How a word is judged.
        decode: Turns token ids into text.
    """
    words = [word for run in asked.masked.words for word in run]
    answers = dict(zip(words, (fill for run in fills for fill in run), strict=True))
    total = math.fsum(asked.weights[word] for word in answers)
    spans = []
    for word in sorted([*answers, *asked.masked.too_long]):
        segment, fill = asked.tokenized.words[word], answers.get(word)
        place = (asked.side, segment.start, segment.end)
        if fill is None or total == 0:
            spans.append(Span(*place, math.nan, 0.0, TOO_LONG if fill is None else said(fill, decode)))
        else:
            weight = float(asked.weights[word]) / total
            spans.append(Span(*place, word_score(fill, scoring), weight, said(fill, decode)))
    scored = [span.value * span.weight for span in spans if span.weight]
    value = math.fsum(scored) if scored else math.nan
    return SideScore(value, tuple(spans), _flags(asked))


def said(fill: Fill, decode: Callable[[Sequence[int]], str]) -> str:
    """Put into words what the model said in place of a word; nothing if it said the same."""
    if fill.matches:
        return ""
    text = decode(fill.predicted).strip()
    return (text or NOTHING) if fill.complete else f"{text}…"


def _flags(asked: Asked) -> tuple[Flag, ...]:
    """Say how much of the other text the model saw at worst, and which words it could not be asked for."""
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
