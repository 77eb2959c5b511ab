"""Analyses of the MaskEval paper: weight by part of speech (figure 4) and selective masking (figure 5)."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.core.example import Side
from gistmeter.core.score import Score, Span
from gistmeter.metrics.maskeval.weights import keep_heaviest

if TYPE_CHECKING:
    from spacy.tokens import Token

Tagged = tuple[int, int, str]
"""(start, end, part of speech) of a token; tokens are in order, without overlap."""

UNTAGGED = "untagged"
BE = frozenset(
    ["am", "is", "are", "was", "were", "be", "been", "being", "'s", "'re", "'m", "’s", "’re", "’m"]
)
HAVE_AND_DO = frozenset(["have", "has", "had", "having", "'ve", "'d", "’ve", "’d", "do", "does", "did"])
KEEPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class KeepPoint:
    """One point of figure 5.

    Args:
        keep: Share of each side's weight that is kept.
        masks: Mean number of masked words per pair.
        share: Masked words as a share of all words.
        pearson: Correlation of the sparse scores with human judgements; NaN if undefined.
    """

    keep: float
    masks: float
    share: float
    pearson: float


def part_of_speech(token: "Token") -> str:
    """Return the universal part of speech of an English token, with the auxiliaries of spaCy's own pipelines.

    The pipeline that ships derives parts of speech from Penn tags, which have the same tag for a verb and an
    auxiliary. A form of `be` is an auxiliary wherever it stands; a form of `have` or `do` is one if the
    parser says so.
    """
    if token.tag_.startswith("VB") and token.lower_ in BE:
        return "AUX"
    if token.tag_.startswith("VB") and token.lower_ in HAVE_AND_DO and token.dep_ in ("aux", "auxpass"):
        return "AUX"
    return token.pos_ or "X"


def weight_by_tag(score: Score, tagged: Sequence[Tagged], *, side: Side = "source") -> dict[str, float]:
    """Return the share of a text's weight by part of speech (figure 4).

    The weight of a word that covers several tokens (`don't`) is divided by number of characters.

    Args:
        score: Score with a span for every word (`keep=1`).
        tagged: Tagged tokens of the text.
        side: Side of the text.

    Returns:
        Shares that add up to 1, with `untagged` for words without a token; empty if the side has no weight.
    """
    shares: dict[str, float] = defaultdict(float)
    at = 0
    for span in _weighty(score, side):
        while at < len(tagged) and tagged[at][1] <= span.start:
            at += 1
        for tag, part in _overlaps(span, tagged, at).items():
            shares[tag] += span.weight * part
    total = math.fsum(shares.values())
    return {tag: share / total for tag, share in sorted(shares.items())}


def mean_weight_by_tag(
    scores: Sequence[Score], tagged: Sequence[Sequence[Tagged]], *, side: Side = "source"
) -> dict[str, float]:
    """Return the mean share of weight by part of speech over texts (figure 4).

    Args:
        scores: Scores with a span for every word.
        tagged: Tagged tokens of each score's text.
        side: Side of the texts.
    """
    shares = [weight_by_tag(*both, side=side) for both in zip(scores, tagged, strict=True)]
    counted = [share for share in shares if share]
    tags = sorted({tag for share in counted for tag in share})
    return {tag: math.fsum(share.get(tag, 0.0) for share in counted) / len(counted) for tag in tags}


def sparse_value(score: Score, keep: float) -> float:
    """Return the value of a pair if only its words with the largest weights are masked.

    With one mask per pass, it equals the score with the option `keep`, without another forward pass.

    Args:
        score: Score with a span for every word (`keep=1`).
        keep: Share of each side's weight to keep, in (0, 1].
    """
    if score.problem is not None:
        return math.nan
    sides = [_kept(score, side, keep) for side in ("candidate", "source")]
    return math.fsum(_mean(spans) for spans in sides) / 2


def keep_curve(
    scores: Sequence[Score], human: Sequence[float], keeps: Iterable[float] = KEEPS
) -> list[KeepPoint]:
    """Return the correlation with human judgements by share of weight kept (figure 5).

    Args:
        scores: Scores with a span for every word (`keep=1`). Undefined scores are omitted.
        human: Human judgement of each pair.
        keeps: Shares of cumulative weight to keep, in (0, 1].
    """
    defined = [(score, people) for score, people in zip(scores, human, strict=True) if score.problem is None]
    sound = [score for score, _ in defined]
    judged = np.array([people for _, people in defined])
    points = []
    for keep in keeps:
        values = np.array([sparse_value(score, keep) for score in sound])
        masks = sum(_count(score, keep) for score in sound)
        words = sum(_count(score, 1.0) for score in sound)
        mean = masks / len(sound) if sound else math.nan
        share = masks / words if words else math.nan
        points.append(KeepPoint(keep, mean, share, pearson(values, judged)))
    return points


def _weighty(score: Score, side: Side) -> list[Span]:
    return [span for span in score.spans if span.side == side and span.weight > 0]


def _kept(score: Score, side: Side, keep: float) -> list[Span]:
    spans = _weighty(score, side)
    return [spans[at] for at in keep_heaviest(np.array([span.weight for span in spans]), keep)]


def _count(score: Score, keep: float) -> int:
    return len(_kept(score, "candidate", keep)) + len(_kept(score, "source", keep))


def _mean(spans: Sequence[Span]) -> float:
    total = math.fsum(span.weight for span in spans)
    return math.fsum(span.weight * span.value for span in spans) / total


def _overlaps(span: Span, tagged: Sequence[Tagged], at: int) -> dict[str, float]:
    """Return the share of a span's tagged characters by part of speech."""
    found: dict[str, float] = defaultdict(float)
    while at < len(tagged) and tagged[at][0] < span.end:
        start, end, tag = tagged[at]
        found[tag] += min(end, span.end) - max(start, span.start)
        at += 1
    total = sum(found.values())
    return {tag: length / total for tag, length in found.items()} if total else {UNTAGGED: 1.0}
