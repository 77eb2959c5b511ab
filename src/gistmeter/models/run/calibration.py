"""Texts of the project's own: what `int8` is calibrated with, and what a precision is checked with.

Half of them serve for the one, half for the other; nothing that is scored has a part in it.
"""

from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("calibration.txt")


@cache
def paragraphs(*, check: bool = False) -> tuple[str, ...]:
    """Return paragraphs of about fifty words.

    Args:
        check: Those to check with, instead of those to calibrate with.
    """
    lines = tuple(FILE.read_text(encoding="utf-8").splitlines())
    return lines[1::2] if check else lines[0::2]


def texts(*, check: bool = False) -> list[str]:
    """Return the paragraphs, and their sentences."""
    return [text for whole in paragraphs(check=check) for text in (whole, *_sentences(whole))]


def pairs(*, check: bool = False) -> list[tuple[str, str]]:
    """Return pairs of a sentence and the paragraph that it is a part of."""
    return [(_sentences(text)[at % 3], text) for at, text in enumerate(paragraphs(check=check))]


def _sentences(text: str) -> list[str]:
    return [part.rstrip(".") + "." for part in text.split(". ")]
