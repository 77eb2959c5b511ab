"""Texts cut into the words that are blanked, one at a time (MaskEval, section 3.1)."""

from collections.abc import Iterable
from dataclasses import dataclass

from gistmeter.models.fill.protocol import Filler
from gistmeter.text.words import Segment, linguistic_ends, segments


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text as the model sees it.

    Args:
        ids: Its n sub-words.
        words: Its N ≤ n words, in text order; none if the model sees nothing of it.
    """

    ids: tuple[int, ...]
    words: tuple[Segment, ...]


Pair = tuple[TokenizedText, TokenizedText]
"""A candidate and its source."""


def cut_texts(filler: Filler, texts: Iterable[str], language: str) -> dict[str, TokenizedText]:
    """Tokenize texts and cut them into words; each text once, however many pairs it is part of.

    Args:
        filler: Whose sub-words to use.
        texts: Candidates and sources; equal ones may come again.
        language: Whose words to use.
    """
    unique = list(dict.fromkeys(texts))
    tokenized_texts = {}
    for text, tokens in zip(unique, filler.tokenize(unique), strict=True):
        places = [(start, end) for start, end in tokens.offsets.tolist()]
        words = segments(text, places, linguistic_ends(text, language))
        tokenized_texts[text] = TokenizedText(tokens.ids, tuple(words))
    return tokenized_texts
