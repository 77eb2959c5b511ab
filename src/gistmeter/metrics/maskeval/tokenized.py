"""Tokenize texts and group sub-words into words (MaskEval, section 3.1)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gistmeter.models.fill.protocol import Filler
from gistmeter.text.words import Segment, linguistic_ends, segments


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """Tokenized text.

    Args:
        ids: IDs of the n sub-words.
        words: N ≤ n words in text order; empty if the tokenizer finds none. A word that the model cannot
            write, because its sub-words decode to nothing (`<unk>`), is not among them.
    """

    ids: tuple[int, ...]
    words: tuple[Segment, ...]

    @property
    def inside(self) -> list[int]:
        """Indices of the sub-words that belong to words."""
        return [index for word in self.words for index in word.tokens]

    @property
    def inside_ids(self) -> tuple[int, ...]:
        """IDs of the sub-words that belong to words."""
        return tuple(self.ids[index] for index in self.inside)


Pair = tuple[TokenizedText, TokenizedText]
"""Candidate and source."""


def cut_texts(filler: Filler, texts: Iterable[str], language: str) -> dict[str, TokenizedText]:
    """Tokenize texts and split them into words; each distinct text is processed once.

    Segments without text are left out, as in the authors' code: a word of unknown sub-words, and a `▁` of
    its own. T5 has such a `▁` for `4-6`, at the place of the 4, where a linguistic token ends.

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
        ends = set(linguistic_ends(text, language))
        words = []
        for word in segments(text, places, ends):
            if _has_text(filler, tokens.ids[word.first : word.last + 1]):
                end = places[word.first][1]
                is_cut = end in ends and end < word.end
                blank = is_cut and not _has_text(filler, tokens.ids[word.first : word.first + 1])
                words.append(replace(word, first=word.first + 1) if blank else word)
        tokenized_texts[text] = TokenizedText(tokens.ids, tuple(words))
    return tokenized_texts


def _has_text(filler: Filler, ids: tuple[int, ...]) -> bool:
    """Return whether sub-words decode to any text."""
    return bool(filler.decode(ids).strip())
