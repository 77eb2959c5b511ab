"""Lookup keys of tokens in frequency tables: the sub-word itself, or its word."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gistmeter.metrics.simplicity.options import Unit
from gistmeter.models.run.tokens import tokenize
from gistmeter.models.run.types import Tokenizer
from gistmeter.text.words import word_spans

Key = tuple[str, bool]
"""Lower-cased text, and whether it continues a word: `("ing", True)` is BERT's `##ing`."""
Offsets = NDArray[np.int64]
CHUNK = 500  # words per tokenized text


def keys(text: str, offsets: Offsets, unit: Unit, language: str) -> list[Key]:
    """Return the lookup key of each token.

    Args:
        text: Tokenized text.
        offsets: First character and one past the last of each token, shape (tokens, 2).
        unit: `subword` or `word`.
        language: Language of the word tokenizer; see `word_spans`.
    """
    return subword_keys(text, offsets) if unit == "subword" else word_keys(text, offsets, language)


def subword_keys(text: str, offsets: Offsets) -> list[Key]:
    """Return the text of each token, independent of the tokenizer's treatment of leading spaces.

    >>> subword_keys("Walking.", np.array([[0, 4], [4, 7], [7, 8]]))
    [('walk', False), ('ing', True), ('.', False)]
    """
    found = []
    for start, end in offsets.tolist():
        piece = text[start:end]
        letters = piece.strip()
        first = end - len(piece.lstrip())
        inside = 0 < first < end and text[first - 1].isalnum() and text[first].isalnum()
        found.append((letters.lower(), inside))
    return found


def word_keys(text: str, offsets: Offsets, language: str) -> list[Key]:
    """Return the word that contains the last character of each token.

    >>> word_keys("Walking.", np.array([[0, 4], [4, 7], [7, 8]]), "en")
    [('walking', False), ('walking', False), ('.', False)]
    """
    spans = word_spans(text, language)
    owners = np.searchsorted([end for _, end in spans], offsets[:, 1] - 1, side="right")
    words = [(text[start:end].lower(), False) for start, end in spans]
    return [words[min(owner, len(words) - 1)] for owner in owners.tolist()]


def count_units(counts: Mapping[str, int], unit: Unit, tokenizer: Tokenizer) -> dict[Key, int]:
    """Convert counts of words into counts of lookup keys.

    The count of a sub-word is the sum of the counts of the words that contain it.

    Args:
        counts: Counts by lower-cased word.
        unit: `subword` or `word`.
        tokenizer: Tokenizer of the model, which splits words into sub-words.
    """
    if unit == "word":
        return {(word, False): count for word, count in counts.items()}
    summed: dict[Key, int] = {}
    words = list(counts)
    chunks = [words[at : at + CHUNK] for at in range(0, len(words), CHUNK)]
    # Each word follows a space, as in a text, because tokens of some tokenizers start with a space.
    texts = ["".join(f" {word}" for word in chunk) for chunk in chunks]
    for chunk, text, tokens in zip(chunks, texts, tokenize(tokenizer, texts, None), strict=True):
        own = tokens.offsets[~tokens.special]
        ends = np.cumsum([1 + len(word) for word in chunk])
        owners = np.searchsorted(ends, own[:, 1] - 1, side="right").tolist()
        # A word that contains a sub-word twice counts once.
        for key, owner in dict.fromkeys(zip(subword_keys(text, own), owners, strict=True)):
            summed[key] = summed.get(key, 0) + counts[chunk[owner]]
    return summed
