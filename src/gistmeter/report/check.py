"""The answer of `gistmeter check`: which sentences have no support, and the closest evidence."""

import textwrap
from dataclasses import dataclass

from gistmeter.core.example import Example
from gistmeter.core.score import Score
from gistmeter.report.plain import plain

WIDTH = 100
INDENT = " " * 8
UNSUPPORTED = 0.5
"""Sentences whose support is below this are marked with ✗."""
UNCERTAIN = 0.9
"""Sentences from `UNSUPPORTED` to this are marked with ?: people call about half of the texts with only such
sentences wrong, or more."""
DOUBT = "; in doubt: "
"""Separates the evidence from the fact in doubt, in the note of a sentence."""


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """One sentence of a checked text.

    Args:
        start: Offset of the first character.
        end: Offset after the last character.
        value: Its support, from 0 to 1.
        evidence: The closest sentence of the source.
        doubt: The fact that is most in doubt, for an unsupported sentence with facts.
    """

    start: int
    end: int
    value: float
    evidence: str
    doubt: str | None

    @property
    def unsupported(self) -> bool:
        """Whether the sentence has no support."""
        return self.value < UNSUPPORTED

    @property
    def uncertain(self) -> bool:
        """Whether it is neither marked as unsupported nor surely supported."""
        return UNSUPPORTED <= self.value < UNCERTAIN


def checked_sentences(score: Score) -> list[CheckedSentence]:
    """Return the sentences of a text.

    Args:
        score: By the metric `check`.
    """
    found = []
    for span in score.spans:
        if span.side == "candidate":
            evidence, _, doubt = span.note.removeprefix("source: ").partition(DOUBT)
            found.append(CheckedSentence(span.start, span.end, span.value, evidence, doubt or None))
    return found


def check_text(score: Score, example: Example) -> str:
    """Return the answer for one pair.

    Args:
        score: By the metric `check`.
        example: The pair.
    """
    if score.problem is not None:
        return f"No answer: {plain(score.problem)}\n"
    sentences = checked_sentences(score)
    wrong = sum(sentence.unsupported for sentence in sentences)
    uncertain = sum(sentence.uncertain for sentence in sentences)
    lines = [f"{_verdict(wrong, uncertain, len(sentences))}\n"]
    for sentence in sentences:
        lines += _lines(sentence, example.candidate)
    share = f"{100 * score.parts['wrong']:.0f} %"
    lines.append(f"\ncheck {score.value:.2f}: people called about {share} of texts with such sentences wrong")
    lines += [f"note: {plain(str(flag))}" for flag in score.flags]
    return "\n".join(lines) + "\n"


def _verdict(wrong: int, uncertain: int, count: int) -> str:
    if wrong:
        has = "has" if wrong == 1 else "have"
        what = "The sentence has" if count == 1 else f"{wrong} of {count} sentences {has}"
        return f"{what} no support in the source."
    if uncertain:
        return f"No sentence is clearly unsupported; {uncertain} of {count} may be wrong (?)."
    return f"No unsupported sentence found ({count} checked)."


def _lines(sentence: CheckedSentence, text: str) -> list[str]:
    mark = "✗" if sentence.unsupported else "?" if sentence.uncertain else "✓"
    head = f"  {mark} {sentence.value:.2f}"  # as wide as INDENT
    said = plain(text[sentence.start : sentence.end])
    lines = textwrap.wrap(said, WIDTH - len(INDENT)) or [""]
    lines = [head + " " + lines[0], *(f"{INDENT} {line}" for line in lines[1:])]
    if mark != "✓":
        lines += _indented(f"closest in the source: {plain(sentence.evidence)}")
        lines += _indented(f"in doubt: {plain(sentence.doubt)}") if sentence.doubt else []
    return lines


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=f"{INDENT} ", subsequent_indent=f"{INDENT} ")
