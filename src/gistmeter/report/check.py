"""The answer of `gistmeter check` as text: which sentences have no support, and the closest evidence."""

import textwrap

from gistmeter.core.example import Example
from gistmeter.core.score import Score, Span
from gistmeter.report.plain import plain

WIDTH = 100
INDENT = " " * 8
UNSUPPORTED = 0.5
"""Sentences below this probability of support are marked."""
DOUBT = "; in doubt: "
"""Separates the evidence from the fact in doubt, in the note of a sentence."""


def check_text(score: Score, example: Example) -> str:
    """Return the answer for one pair.

    Args:
        score: By the metric `check`.
        example: The pair.
    """
    if score.problem is not None:
        return f"No answer: {plain(score.problem)}\n"
    spans = [span for span in score.spans if span.side == "candidate"]
    wrong = sum(span.value < UNSUPPORTED for span in spans)
    lines = [f"{_verdict(wrong, len(spans))}\n"]
    for span in spans:
        lines += _sentence(span, example.candidate)
    share = f"{100 * (1 - score.value):.0f} %"
    lines.append(f"\ncheck {score.value:.2f}: of texts with this value, people called about {share} wrong")
    lines += [f"note: {plain(str(flag))}" for flag in score.flags]
    return "\n".join(lines) + "\n"


def _verdict(wrong: int, count: int) -> str:
    if not wrong:
        return f"No unsupported sentence found ({count} checked)."
    if count == 1:
        return "The sentence has no support in the source."
    has = "has" if wrong == 1 else "have"
    return f"{wrong} of {count} sentences {has} no support in the source."


def _sentence(span: Span, text: str) -> list[str]:
    mark = "✗" if span.value < UNSUPPORTED else "✓"
    head = f"  {mark} {span.value:.2f}"  # as wide as INDENT
    lines = textwrap.wrap(plain(text[span.start : span.end]), WIDTH - len(INDENT)) or [""]
    lines = [head + " " + lines[0], *(f"{INDENT} {line}" for line in lines[1:])]
    if span.value < UNSUPPORTED:
        note, _, doubt = plain(span.note).removeprefix("source: ").partition(DOUBT)
        lines += _indented(f"closest in the source: {note}")
        lines += _indented(f"in doubt: {doubt}") if doubt else []
    return lines


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=f"{INDENT} ", subsequent_indent=f"{INDENT} ")
