"""Whether a text reads as English: by its script, and by the share of its words that are common."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from gistmeter.core.example import Side
from gistmeter.core.score import Flag
from gistmeter.text.frequencies import SUFFIX, load_frequencies

CHECKED = "en"
"""The only language that there is a table for; texts of any other are not checked."""
COMMON = 20_000
"""How many of the most frequent English words count as known."""
LEAST_SHARE = 0.5
"""Below this share of known words, or of Latin letters, a text does not read as English."""
LEAST_READABLE = 0.15
"""Below this share of known words, nothing in a text can be read as English."""
LEAST_WORDS, LEAST_LETTERS = 5, 40
"""Shorter texts may consist of names; only their script is looked at."""
SAMPLE = 2000
"""Characters that are looked at, from the start of the text."""

_TABLE = Path(__file__).parents[1] / "bundle" / "frequencies" / f"simple{SUFFIX}"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class English:
    """How English a text looks.

    Args:
        words: Runs of letters in its first `SAMPLE` characters.
        known: How many of them are common English words.
        letters: Letters in these words.
        latin: How many of the letters are Latin.
    """

    words: int
    known: int
    letters: int
    latin: int

    @property
    def doubtful(self) -> bool:
        """Whether most letters are not Latin, or most words of a text of some length are unknown."""
        if self.latin < LEAST_SHARE * self.letters:
            return True
        enough = self.words >= LEAST_WORDS or self.letters >= LEAST_LETTERS
        return enough and self.known < LEAST_SHARE * self.words

    @property
    def unreadable(self) -> bool:
        """Whether the text is doubtful and has hardly an English word."""
        return self.doubtful and self.known < LEAST_READABLE * self.words


def english(text: str) -> English:
    """Count the words of a text that are English.

    >>> english("The ferry left the harbour at noon.").doubtful
    False
    >>> english("asdf jkl qwer uiop zxcv asdf").unreadable, english("Паром ушёл в полдень.").unreadable
    (True, True)
    """
    words = _WORD.findall(text[:SAMPLE])
    letters = [letter for word in words for letter in word if letter.isalpha()]
    known = sum(_known(word.lower().replace("’", "'")) for word in words)
    return English(len(words), known, len(letters), sum(map(_is_latin, letters)))


def language_flags(texts: Iterable[tuple[Side, int, str]], language: str = CHECKED) -> tuple[Flag, ...]:
    """Flag each text that does not read as English, for a metric whose model knows only English.

    Args:
        texts: Those that the metric reads: side, index, text.
        language: What the metric expects; only `en` is checked.
    """
    if language != CHECKED:
        return ()
    return tuple(
        Flag("unknown_language", side, index=index) for side, index, text in texts if english(text).doubtful
    )


def _known(word: str) -> bool:
    return word in _common() or word.partition("'")[0] in _common()


def _is_latin(letter: str) -> bool:
    return letter < "\u0250" or "\u1e00" <= letter < "\u1f00" or "\uff21" <= letter <= "\uff5a"


@cache
def _common() -> frozenset[str]:
    """Return the most frequent English words; the file lists them by frequency."""
    return frozenset(islice(load_frequencies(_TABLE).counts, COMMON))
