"""The paper's analyses, over scores that are handed in."""

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
    """An error put into a candidate, or found in it.

    Args:
        start: First character in the candidate as it was scored, error included.
        end: One past the last.
        original: What should stand there.
    """

    start: int
    end: int
    original: str


@dataclass(frozen=True, slots=True)
class Corrections:
    """How many errors a model put right (table 5).

    Args:
        changes: All errors.
        factors: Those that lie within a factor that was scored.
        lowered: Of these, factors that score below 1: the error was noticed.
        corrected: Of these, factors whose answer is the original, case and white space aside.
        suggested: Of these, answers that the model was confident of.
    """

    changes: int
    factors: int
    lowered: int
    corrected: int
    suggested: int

    @property
    def rate(self) -> float:
        """Corrected factors among those changed; NaN if none was."""
        return self.corrected / self.factors if self.factors else math.nan


def corrections(
    examples: Sequence[Example], scores: Sequence[Score], changes: Sequence[Sequence[Change]]
) -> Corrections:
    """Count how many answers equal the original among the factors changed by an error (table 5).

    Args:
        examples: As they were scored, errors included.
        scores: ClozE's, one an example.
        changes: The errors of each example, none overlapping another.
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
        scores: One a candidate.
        seconds: How long it took.
    """

    scores: Sequence[Score]
    seconds: float


@dataclass(frozen=True, slots=True)
class Point:
    """A point of figure 3a.

    Args:
        k: Factors blanked together.
        seconds: For each candidate.
        pearson: Correlation with human judgements, undefined scores left out; NaN where there are fewer
            than two, or one side is constant.
        n: How many candidates have a score.
    """

    k: int
    seconds: float
    pearson: float
    n: int


def timing_against_k(runs: Mapping[int, Run], human: Sequence[float]) -> list[Point]:
    """Return speed and correlation with human judgements for each k (figures 3a and 4).

    Args:
        runs: From k to a run over the same candidates; the paper's are at summary level.
        human: One judgement a candidate.

    Returns:
        One point a run, by ascending k.

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
    """Return a span of a text as it was before the errors."""
    parts, at = [], span.start
    for change in sorted(changes, key=lambda change: change.start):
        parts += [text[at : change.start], change.original]
        at = change.end
    return "".join([*parts, text[at : span.end]])


def _plain(text: str) -> str:
    return "".join(text.split()).lower()
