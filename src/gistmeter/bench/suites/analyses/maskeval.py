"""The analyses of the paper, as functions over scores: what the weights favour, and how few masks suffice."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.core.example import Side
from gistmeter.core.score import Score, Span
from gistmeter.metrics.maskeval.weights import keep_heaviest

Tagged = tuple[int, int, str]
"""First character, one past the last, and the part of speech of a token; in order, without overlap."""

UNTAGGED = "untagged"
KEEPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class KeepPoint:
    """One point of figure 5.

    Args:
        keep: Which share of each side's weight was kept.
        masks: How many words were asked for, on average.
        share: The same as a share of all words of all pairs.
        pearson: Correlation of the sparse scores with the human ones; NaN where it is not defined.
    """

    keep: float
    masks: float
    share: float
    pearson: float


def weight_by_tag(score: Score, tagged: Sequence[Tagged], *, side: Side = "source") -> dict[str, float]:
    """Share out a text's weight among parts of speech (figure 4).

    A word that covers several tokens (`don't`) shares its weight among them by characters.

    Args:
        score: With a span for every word: `keep=1`.
        tagged: The part of speech of each token of that text.
        side: Which text.

    Returns:
        Shares that add up to 1, `untagged` for what no token covers; empty if the side has no weight.
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
    """Average over texts how much weight each part of speech has (figure 4).

    Args:
        scores: With a span for every word.
        tagged: For each score, the parts of speech of its text.
        side: Which text.
    """
    shares = [weight_by_tag(*both, side=side) for both in zip(scores, tagged, strict=True)]
    counted = [share for share in shares if share]
    tags = sorted({tag for share in counted for tag in share})
    return {tag: math.fsum(share.get(tag, 0.0) for share in counted) / len(counted) for tag in tags}


def sparse_value(score: Score, keep: float) -> float:
    """Return the value that a pair would have had if only its heaviest words had been asked for.

    Equals the score with the option `keep`, without another forward pass, for one mask a pass.

    Args:
        score: With a span for every word: `keep=1`.
        keep: The share of each side's weight, in (0, 1].
    """
    if score.problem is not None:
        return math.nan
    sides = [_kept(score, side, keep) for side in ("candidate", "source")]
    return math.fsum(_mean(spans) for spans in sides) / 2


def keep_curve(
    scores: Sequence[Score], human: Sequence[float], keeps: Iterable[float] = KEEPS
) -> list[KeepPoint]:
    """Return how the correlation with people depends on the share of masks kept (figure 5).

    Args:
        scores: With a span for every word: `keep=1`. Those without a value are left out.
        human: People's judgement of each pair.
        keeps: Thresholds of cumulative weight, in (0, 1].
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
    """Return which share of a span's tagged characters each part of speech covers."""
    found: dict[str, float] = defaultdict(float)
    while at < len(tagged) and tagged[at][0] < span.end:
        start, end, tag = tagged[at]
        found[tag] += min(end, span.end) - max(start, span.start)
        at += 1
    total = sum(found.values())
    return {tag: length / total for tag, length in found.items()} if total else {UNTAGGED: 1.0}
