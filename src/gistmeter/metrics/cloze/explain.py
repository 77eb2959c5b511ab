"""Build spans that show each factor, the model's answer, and a suggested correction."""

import math
import re
from dataclasses import dataclass

from gistmeter.core.score import Score, Span
from gistmeter.metrics.cloze.judge import Verdict
from gistmeter.metrics.cloze.questions import Blank
from gistmeter.text.factors import MarkedText

ARROW = "→ "
NOTHING = "(nothing)"
COPIED = "copied: the text around it stands in the source word for word"


@dataclass(frozen=True, slots=True)
class Answer:
    """Parsed note of a factor span.

    Args:
        text: The model's answer.
        confidence: Confidence in the answer, rounded to two decimal places.
        suggested: Whether the answer is a suggested correction.
    """

    text: str
    confidence: float
    suggested: bool


def note(verdict: Verdict, alpha: float) -> str:
    """Format the model's answer; an answer that differs and is confident becomes a suggested correction.

    >>> note(Verdict(0.0, 0.83, "Bergen", same=False), alpha=0.5)
    '→ Bergen (confidence .83)'
    >>> note(Verdict(1.0, 0.96, "Oslo", same=True), alpha=0.5)
    'Oslo (confidence .96)'
    """
    sure = f"{verdict.confidence:.2f}".removeprefix("0")
    suggests = verdict.complete and not verdict.same and verdict.answer and verdict.confidence >= alpha
    answer = verdict.answer or NOTHING
    if not verdict.complete:
        answer += "…"
    return f"{ARROW if suggests else ''}{answer} (confidence {sure})"


def read_note(text: str) -> Answer | None:
    """Parse the output of `note`; return None for a note without an answer.

    >>> read_note("→ Bergen (confidence .83)")
    Answer(text='Bergen', confidence=0.83, suggested=True)
    """
    found = re.fullmatch(r"(→ )?(.*) \(confidence (\d?\.\d\d)\)", text, re.DOTALL)
    if found is None:
        return None
    arrow, answer, sure = found.groups()
    return Answer("" if answer == NOTHING else answer, float(sure), arrow is not None)


def corrections(score: Score, confidence: float) -> list[tuple[Span, Answer]]:
    """Return the facts of a candidate for which the model is sure of other words, with these words.

    Args:
        score: By ClozE.
        confidence: How sure the model must be, from 0 to 1.

    >>> sure = Span("candidate", 0, 5, 0.1, note="→ Bergen (confidence .95)")
    >>> unsure = Span("candidate", 9, 14, 0.1, note="→ May (confidence .60)")
    >>> [answer.text for _, answer in corrections(Score("1", 0.1, spans=(sure, unsure)), 0.9)]
    ['Bergen']
    """
    answers = [(span, read_note(span.note)) for span in score.spans if span.side == "candidate"]
    return [
        (span, answer)
        for span, answer in answers
        if answer is not None and answer.suggested and answer.confidence >= confidence
    ]


def factor_span(blank: Blank, verdict: Verdict | None, alpha: float) -> Span:
    """Return the span of a factor in the user's text; an unscored factor has value NaN and weight 0."""
    start, end = blank.factor.start, blank.factor.end
    if verdict is None:
        return Span("candidate", start, end, math.nan, 0.0, blank.problem)
    said = COPIED if blank.copied else note(verdict, alpha)
    return Span("candidate", start, end, verdict.value, 1.0, said)


def bare_sentences(marked: MarkedText) -> list[Span]:
    """Return spans of the sentences without factors: value 1, weight 0 in the mean."""
    filled = {factor.sentence for factor in marked.factors}
    places = [place for number, place in enumerate(marked.sentences) if number not in filled]
    own = (marked.joined.to_original(*place) for place in places)
    return [Span("candidate", start, end, 1.0, 0.0, "no factors") for start, end in own]
