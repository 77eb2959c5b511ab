"""The words of ROUGE, equal to those of the library rouge-score."""

import re
from collections.abc import Callable
from functools import lru_cache

from gistmeter.text.stems import stem

REMEMBERED_TEXTS = 4096
REMEMBERED_WORDS = 1 << 16
SHORT = 3
"""Words of at most this length are not stemmed."""
OTHER = re.compile("[^a-z0-9]+")
Tokenizer = Callable[[str], list[str]]


def rouge_tokenizer(*, stemmer: bool) -> Tokenizer:
    """Return a function from a text to its words, with caches of bounded size for texts and stems.

    Words are runs of the letters a to z, after lower-casing, and digits; do not modify the lists. The caches
    live as long as the function.

    Args:
        stemmer: Whether to replace words of more than three characters by their stems.

    >>> rouge_tokenizer(stemmer=True)("The Engineers' café-beams")
    ['the', 'engin', 'caf', 'beam']
    """
    short = lru_cache(REMEMBERED_WORDS)(stem)

    @lru_cache(REMEMBERED_TEXTS)
    def words(text: str) -> list[str]:
        found = OTHER.sub(" ", text.lower()).split()
        return [short(word) if len(word) > SHORT else word for word in found] if stemmer else found

    return words
