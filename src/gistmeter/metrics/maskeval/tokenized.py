"""Tokenize texts and group sub-words into words (MaskEval, section 3.1)."""

from collections.abc import Iterable
from dataclasses import dataclass

from gistmeter.models.fill.protocol import Filler
from gistmeter.text.words import Segment, linguistic_ends, segments


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """Tokenized text.

    Args:
        ids: IDs of the n sub-words.
        words: N ≤ n words in text order; empty if the tokenizer finds none.
    """

    ids: tuple[int, ...]
    words: tuple[Segment, ...]


Pair = tuple[TokenizedText, TokenizedText]
"""Candidate and source."""


def cut_texts(filler: Filler, texts: Iterable[str], language: str) -> dict[str, TokenizedText]:
    """Tokenize texts and split them into words; each distinct text is processed once.

    Args:
        filler: Model whose tokenizer produces the sub-words.
        texts: Candidates and sources, with or without duplicates.
        language: Language of the word tokenizer.

    Returns:
        Tokenized texts by text.
    """
    unique = list(dict.fromkeys(texts))
    tokenized_texts = {}
    for text, tokens in zip(unique, filler.tokenize(unique), strict=True):
        places = [(start, end) for start, end in tokens.offsets.tolist()]
        words = segments(text, places, linguistic_ends(text, language))
        tokenized_texts[text] = TokenizedText(tokens.ids, tuple(words))
    return tokenized_texts
