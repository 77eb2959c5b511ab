"""Analyses of the ClozE paper: error correction (table 5) and speed by k (figures 3a and 4)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.core.example import Example
from gistmeter.core.score import Score, Span
from gistmeter.metrics.cloze.explain import read_note


@dataclass(frozen=True, slots=True)
class Change:
    """An error in a candidate, injected or annotated.

    Args:
        start: First character in the scored candidate, which includes the error.
        end: One past the last character.
        original: Correct text.
    """

    start: int
    end: int
    original: str


@dataclass(frozen=True, slots=True)
class Corrections:
    """Numbers of detected and corrected errors (table 5).

    Args:
        changes: All errors.
        factors: Errors within a scored factor.
        lowered: Errors within factors that score below 1, that is, detected errors.
        corrected: Errors within factors whose prediction equals the original, up to case and white space.
        suggested: Corrected errors whose prediction is confident enough to be suggested.
    """

    changes: int
    factors: int
    lowered: int
    corrected: int
    suggested: int

    @property
    def rate(self) -> float:
        """Corrected errors as a share of the errors within factors; NaN if there are none."""
        return self.corrected / self.factors if self.factors else math.nan


def corrections(
    examples: Sequence[Example], scores: Sequence[Score], changes: Sequence[Sequence[Change]]
) -> Corrections:
    """Count the errors that ClozE detects and corrects (table 5).

    Args:
        examples: Scored examples, with errors.
        scores: ClozE's scores, one per example.
        changes: Errors of each example, without overlap.
    """
    factors = lowered = corrected = suggested = 0
    for example, score, own in zip(examples, scores, changes, strict=True):
        for span in score.spans:
            inside = [change for change in own if span.start <= change.start and change.end <= span.end]
            answer = read_note(span.note)
            if not inside or answer is None:
                continue
            right = _plain(answer.text) == _plain(_restore(example.candidate, span, inside))
            factors += len(inside)
            if span.value < 1:
                lowered += len(inside)
            if right:
                corrected += len(inside)
            if right and answer.suggested:
                suggested += len(inside)
    return Corrections(sum(map(len, changes)), factors, lowered, corrected, suggested)


@dataclass(frozen=True, slots=True)
class Run:
    """One run over a set of candidates.

    Args:
        scores: One score per candidate.
        seconds: Total time.
    """

    scores: Sequence[Score]
    seconds: float


@dataclass(frozen=True, slots=True)
class Point:
    """A point of figure 3a.

    Args:
        k: Number of factors blanked at once.
        seconds: Time per candidate.
        pearson: Correlation with human judgements, without undefined scores; NaN for fewer than two scores
            or if a side is constant.
        n: Number of candidates with a score.
    """

    k: int
    seconds: float
    pearson: float
    n: int


def timing_against_k(runs: Mapping[int, Run], human: Sequence[float]) -> list[Point]:
    """Return speed and correlation with human judgements for each k (figures 3a and 4).

    Args:
        runs: k → run over the same candidates; the paper uses summary level.
        human: One judgement per candidate.

    Returns:
        One point per run, by ascending k.

    >>> scores = [Score("1", 0.2), Score("2", 0.6), Score("3", 1.0)]
    >>> timing_against_k({1: Run(scores, 6.0)}, [1.0, 3.0, 5.0])
    [Point(k=1, seconds=2.0, pearson=1.0, n=3)]
    """
    points = []
    for k, run in sorted(runs.items()):
        pairs = zip(run.scores, human, strict=True)
        sound = np.array([(score.value, given) for score, given in pairs if score.problem is None])
        values, given = sound.reshape(-1, 2).T
        seconds = run.seconds / max(1, len(run.scores))
        points.append(Point(k, seconds, round(pearson(values, given), 12), len(values)))
    return points


def _restore(text: str, span: Span, changes: Sequence[Change]) -> str:
    """Return the text of a span with the errors undone."""
    parts, at = [], span.start
    for change in sorted(changes, key=lambda change: change.start):
        parts += [text[at : change.start], change.original]
        at = change.end
    return "".join([*parts, text[at : span.end]])


def _plain(text: str) -> str:
    return "".join(text.split()).lower()
