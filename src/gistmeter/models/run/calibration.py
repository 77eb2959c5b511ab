"""Provides the project's own texts for calibrating `int8` and for checking a precision.

One half of the texts is for calibration, the other half for checking. Scored texts are never used.
"""

from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("calibration.txt")


@cache
def paragraphs(*, check: bool = False) -> tuple[str, ...]:
    """Return paragraphs of about 50 words.

    Args:
        check: Whether to return the texts for checking instead of those for calibration.
    """
    lines = tuple(FILE.read_text(encoding="utf-8").splitlines())
    return lines[1::2] if check else lines[0::2]


def texts(*, check: bool = False) -> list[str]:
    """Return the paragraphs and their sentences."""
    return [text for whole in paragraphs(check=check) for text in (whole, *_sentences(whole))]


def pairs(*, check: bool = False) -> list[tuple[str, str]]:
    """Return pairs of a sentence and the paragraph that contains it."""
    return [(_sentences(text)[at % 3], text) for at, text in enumerate(paragraphs(check=check))]


def _sentences(text: str) -> list[str]:
    return [part.rstrip(".") + "." for part in text.split(". ")]
