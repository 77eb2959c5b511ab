"""Split text into words, and align words with a model's sub-words for MaskEval.

MaskEval (section 3.1, figure 2) splits a text wherever both segmentations have a boundary, so that a word
never splits a sub-word: `don't` is one word although spaCy has two tokens, and `2013.` is one word if the
model has a sub-word for it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from itertools import pairwise
from pkgutil import iter_modules
from threading import Lock
from typing import TYPE_CHECKING

from gistmeter.core.errors import UsageError
from gistmeter.core.language import NOT_CHECKED

if TYPE_CHECKING:
    from spacy.language import Language

Place = tuple[int, int]

LONGEST = 500
"""Longer runs without white space are split, because spaCy takes quadratic time on them."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A word: a run of a model's sub-words, with its character offsets.

    Args:
        first: Index of the first sub-word.
        last: Index of the last sub-word, inclusive.
        start: Offset of the first character in the user's text; not white space.
        end: Offset after the last character, which is not white space.
    """

    first: int
    last: int
    start: int
    end: int

    @property
    def tokens(self) -> range:
        """The indices of the sub-words."""
        return range(self.first, self.last + 1)


def word_spans(text: str, language: str = "en") -> list[Place]:
    """Split a text into tokens, including punctuation and runs of white space.

    Args:
        text: A text of any length. It is not normalized.
        language: A language code of spaCy; `xx` for languages without a tokenizer of their own.

    Returns:
        (start, end) offsets of each token, in order, without overlap. Single spaces between tokens
        belong to no token.

    Raises:
        UsageError: If spaCy has no tokenizer for the language, or its tokenizer requires another package.

    >>> [(start, end, "He didn't."[start:end]) for start, end in word_spans("He didn't.")]
    [(0, 2, 'He'), (3, 6, 'did'), (6, 9, "n't"), (9, 10, '.')]
    """
    nlp, lock = _blank(language)
    # Without a memory zone, spaCy caches every word that it reads, at half a kilobyte each. Only one thread
    # at a time may open a memory zone.
    with lock, nlp.memory_zone():
        return token_spans(nlp, text)


def token_spans(nlp: "Language", text: str, cuts: Iterable[int] = ()) -> list[Place]:
    """Split a text with the tokenizer of a pipeline; see `word_spans`.

    Args:
        nlp: The pipeline.
        text: A text of any length.
        cuts: Offsets that no token may cross.
    """
    overlong = (match.end() for match in _OVERLONG.finditer(text))
    edges = sorted({0, *cuts, *overlong, len(text)})
    return [
        (start + token.idx, start + token.idx + len(token))
        for start, end in pairwise(edges)
        for token in nlp.tokenizer(text[start:end])
    ]


def linguistic_ends(text: str, language: str = "en") -> list[int]:
    """Return the end offset of each token, in ascending order; see `word_spans`."""
    return [end for _, end in word_spans(text, language)]


def tokenizer_name(language: str = "en") -> str:
    """Return the name and version of the linguistic tokenizer, for a signature.

    >>> tokenizer_name("en")
    'spacy-3...-en'
    """
    return f"spacy-{version('spacy')}-{_blank(language)[0].lang}"


def row_tokenizer(language: str) -> str:
    """Return the tokenizer of a row's language: spaCy's, or `xx` if it has none that works here.

    >>> row_tokenizer("fr"), row_tokenizer("qq")
    ('fr', 'xx')
    """
    return language if has_tokenizer(language) else NOT_CHECKED


@cache
def has_tokenizer(language: str) -> bool:
    """Return whether spaCy has a tokenizer for a language that works without further packages."""
    try:
        _blank(language)
    except UsageError:
        return False
    return True


def row_tokenizer_name(option: str) -> str:
    """Return the name of the tokenizer for a signature, if rows may name their own language.

    Args:
        option: The option `language` of a metric.

    >>> row_tokenizer_name("fr"), row_tokenizer_name("xx")
    ('spacy-3...-fr', 'spacy-3...-by-row')
    """
    if option == NOT_CHECKED or "+" in option:
        return f"spacy-{version('spacy')}-by-row"
    return tokenizer_name(option)


def segments(text: str, offsets: Sequence[Place], ends: Iterable[int]) -> list[Segment]:
    """Merge sub-words between the boundaries that both segmentations share (MaskEval, section 3.1).

    There is a boundary between two sub-words if a token ends there and no later sub-word starts before it.
    So the byte sub-words of one emoji stay together, and a lone "▁" stays with the letter at the same
    offset. If the tokenizer of the model drops characters, a token that ends among them also ends there.
    The sub-words after the last common boundary form the last segment. Segments of only white space are
    dropped.

    Args:
        text: The tokenized text.
        offsets: The (start, end) offsets of each of n sub-words, with or without leading and trailing
            white space, without special tokens.
        ends: The end offsets of tokens, from `linguistic_ends`.

    Returns:
        At most n segments in text order; they share no sub-words and no characters.

    Raises:
        ValueError: If an offset lies outside the text.

    >>> text = "Wires don't."
    >>> pieces = [(0, 4), (4, 5), (6, 9), (9, 10), (10, 11), (11, 12)]  # Wire s don ' t .
    >>> [text[s.start : s.end] for s in segments(text, pieces, linguistic_ends(text))]
    ['Wires', "don't", '.']
    """
    if any(not 0 <= start <= end <= len(text) for start, end in offsets):
        raise ValueError("a sub-word lies outside the text; pass the offsets of this text")
    places = [_trim(text, start, end) for start, end in offsets]
    marks = sorted({*ends, len(text)})
    found: list[Segment] = []
    first = reach = 0
    for index, ahead in enumerate(_next_starts(places, len(text))):
        start, end = places[index]
        reach = max(reach, end)
        if start < end and _between(marks, reach, ahead):
            found.extend(_segment(text, places, first, index))
            first = index + 1
    return found


def _segment(text: str, places: Sequence[Place], first: int, last: int) -> list[Segment]:
    """Return the segment of a run of sub-words; an empty list if the run is only white space."""
    inked = [(start, end) for start, end in places[first : last + 1] if text[start:end].strip()]
    if not inked:
        return []
    return [Segment(first, last, min(start for start, _ in inked), max(end for _, end in inked))]


def _trim(text: str, start: int, end: int) -> Place:
    """Strip white space from both ends of a span; return a span of only white space unchanged."""
    piece = text[start:end]
    if not piece.strip():
        return start, end
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def _next_starts(places: Sequence[Place], length: int) -> list[int]:
    """Return, for each sub-word, the smallest start offset of any later one; `length` if there is none."""
    ahead = [length] * len(places)
    for index in range(len(places) - 1, 0, -1):
        start, end = places[index]
        ahead[index - 1] = min(ahead[index], start) if start < end else ahead[index]
    return ahead


def _between(marks: Sequence[int], low: int, high: int) -> bool:
    """Return whether any of the sorted marks lies in [low, high]."""
    at = bisect_left(marks, low)
    return at < len(marks) and marks[at] <= high


_OVERLONG = re.compile(rf"\S{{{LONGEST}}}(?=\S)")


@cache
def _blank(language: str) -> "tuple[Language, Lock]":
    import spacy

    try:
        return spacy.blank(language), Lock()
    except ImportError as error:
        modules = iter_modules(import_module("spacy.lang").__path__)
        known = sorted(module.name for module in modules if module.ispkg)
        if language in known:
            reason = " ".join(str(error).split())
            missing = f"the tokenizer of {language!r} is not available: {reason}"
            raise UsageError(f"{missing}; or use language=xx") from None
        raise UsageError(
            f"spaCy has no language {language!r}; use xx (any language), or one of: {', '.join(known)}"
        ) from None
