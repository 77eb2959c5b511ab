"""Lookup keys of tokens in frequency tables: the sub-word itself, or its word."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gistmeter.metrics.simplicity.options import Unit
from gistmeter.models.run.tokens import tokenize
from gistmeter.models.run.types import Tokenizer
from gistmeter.text.words import word_spans

Key = tuple[str, bool]
"""Normal form, and whether it continues a word: `("ing", True)` is BERT's `##ing`."""
Offsets = NDArray[np.int64]
CHUNK = 500  # words per tokenized text
SPACE = "▁"  # the normalizers of some tokenizers write it for a space


def normal_form(piece: str, tokenizer: Tokenizer | None) -> str:
    """Return the normal form of a token's text: normalized as by the tokenizer, and lower-cased.

    Tokens with the same ID have the same normal form. A tokenizer that removes accents, as BERT's uncased one
    does, reads "à" as "a"; others keep the accent.

    Args:
        piece: Text of the token, with any leading space.
        tokenizer: Tokenizer of the model; None only lower-cases.
    """
    normalizer = tokenizer.backend_tokenizer.normalizer if tokenizer is not None else None
    found = normalizer.normalize_str(piece).replace(SPACE, " ") if normalizer is not None else piece
    return (found.strip() or piece.strip()).lower()


def subword_keys(text: str, offsets: Offsets, tokenizer: Tokenizer | None = None) -> list[Key]:
    """Return the normal form of each token, independent of the tokenizer's treatment of leading spaces.

    >>> subword_keys("Walking.", np.array([[0, 4], [4, 7], [7, 8]]))
    [('walk', False), ('ing', True), ('.', False)]
    """
    places = offsets.tolist()
    forms = {piece: normal_form(piece, tokenizer) for piece in {text[start:end] for start, end in places}}
    found = []
    for start, end in places:
        piece = text[start:end]
        first = end - len(piece.lstrip())
        inside = 0 < first < end and text[first - 1].isalnum() and text[first].isalnum()
        found.append((forms[piece], inside))
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

    The count of a sub-word is the sum of the counts of the words that contain it. The words are lower-cased,
    and a cased tokenizer may keep " France" whole but split " france": a whole word that is not a sub-word of
    lower-cased text has the word's own count.

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
        for key, owner in dict.fromkeys(zip(subword_keys(text, own, tokenizer), owners, strict=True)):
            summed[key] = summed.get(key, 0) + counts[chunk[owner]]
    whole = {(normal_form(word, tokenizer), False): count for word, count in counts.items()}
    return whole | summed
