"""Detect texts that are not English, from their script and their share of common English words."""

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
"""The only language with a word table; texts in other languages are not checked."""
COMMON = 20_000
"""The number of most frequent English words that count as known."""
LEAST_SHARE = 0.5
"""Below this share of known words, or of Latin letters, a text is doubtful as English."""
LEAST_READABLE = 0.15
"""Below this share of known words, a doubtful text is unreadable as English."""
LEAST_WORDS, LEAST_LETTERS = 5, 40
"""Shorter texts may consist of names, so only their script is checked."""
SAMPLE = 2000
"""The number of characters that are checked, from the start of the text."""

_TABLE = Path(__file__).parents[1] / "bundle" / "frequencies" / f"simple{SUFFIX}"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class English:
    """Counts that indicate whether a text is English.

    Args:
        words: The number of words (runs of letters) in the first `SAMPLE` characters.
        known: The number of these words that are common English words.
        letters: The number of letters in these words.
        latin: The number of these letters that are Latin.
    """

    words: int
    known: int
    letters: int
    latin: int

    @property
    def doubtful(self) -> bool:
        """Whether most letters are not Latin, or most words of a long enough text are unknown."""
        if self.latin < LEAST_SHARE * self.letters:
            return True
        enough = self.words >= LEAST_WORDS or self.letters >= LEAST_LETTERS
        return enough and self.known < LEAST_SHARE * self.words

    @property
    def unreadable(self) -> bool:
        """Whether the text is doubtful and has almost no known word."""
        return self.doubtful and self.known < LEAST_READABLE * self.words


def english(text: str) -> English:
    """Count the common English words and the Latin letters of a text.

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
    """Return a flag for each text that is doubtful as English, for metrics with an English-only model.

    Args:
        texts: The texts that the metric reads, as (side, index, text).
        language: The language that the metric expects; only `en` is checked.
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
