"""Words as MaskEval counts them: where a linguistic tokenizer and the model's sub-words agree.

The paper (section 3.1, figure 2) cuts a text wherever both segmentations have a boundary, so that a
word never splits one of the model's sub-words: `don't` is one word although spaCy has two, and
`2013.` is one if the model knows it with its full stop.
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

if TYPE_CHECKING:
    from spacy.language import Language

Place = tuple[int, int]

LONGEST = 500
"""spaCy needs quadratic time in a run without white space; a longer one is cut every 500 characters."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A word: a run of the model's sub-words, and the characters it stands for.

    Args:
        first: Index of its first sub-word.
        last: Index of its last sub-word, itself included.
        start: First character in the user's own text; never white space.
        end: One past the last character, which is never white space either.
    """

    first: int
    last: int
    start: int
    end: int

    @property
    def tokens(self) -> range:
        """The indices of its sub-words."""
        return range(self.first, self.last + 1)


def word_spans(text: str, language: str = "en") -> list[Place]:
    """Cut a text into the words of a language, punctuation and runs of white space included.

    Args:
        text: Of any length; it is never normalised.
        language: A code that spaCy knows, `xx` for any other.

    Returns:
        (start, end) characters of each token, in order, without overlap. Single spaces between
        tokens belong to none.

    Raises:
        UsageError: If spaCy has no tokenizer for the language, or not without a further package.

    >>> [(start, end, "He didn't."[start:end]) for start, end in word_spans("He didn't.")]
    [(0, 2, 'He'), (3, 6, 'did'), (6, 9, "n't"), (9, 10, '.')]
    """
    nlp, lock = _blank(language)
    # spaCy keeps every word it ever saw, half a kilobyte each, unless told to forget them; that may
    # happen in one thread at a time.
    with lock, nlp.memory_zone():
        return token_spans(nlp, text)


def token_spans(nlp: "Language", text: str, cuts: Iterable[int] = ()) -> list[Place]:
    """Cut a text with a pipeline's own tokenizer; see `word_spans`.

    Args:
        nlp: The pipeline.
        text: Of any length.
        cuts: Characters before which a token must end.
    """
    overlong = (match.end() for match in _OVERLONG.finditer(text))
    edges = sorted({0, *cuts, *overlong, len(text)})
    return [
        (start + token.idx, start + token.idx + len(token))
        for start, end in pairwise(edges)
        for token in nlp.tokenizer(text[start:end])
    ]


def linguistic_ends(text: str, language: str = "en") -> list[int]:
    """Return where the words of a language end, in ascending order; see `word_spans`."""
    return [end for _, end in word_spans(text, language)]


def tokenizer_name(language: str = "en") -> str:
    """Name the linguistic tokenizer with its version, for a signature.

    >>> tokenizer_name("en")
    'spacy-3...-en'
    """
    return f"spacy-{version('spacy')}-{_blank(language)[0].lang}"


def segments(text: str, offsets: Sequence[Place], ends: Iterable[int]) -> list[Segment]:
    """Join sub-words up to each end that both segmentations have (MaskEval, section 3.1).

    A boundary lies between two sub-words when a word ends there and no later sub-word reaches back
    over it: the bytes of one emoji stay together, and so does a lone "▁" with the letter whose
    place it shares. Where the model drops characters, a word that ends among them ends there too.
    Sub-words after the last common end are kept as the last segment. Segments of nothing but white
    space are left out.

    Args:
        text: What was tokenized.
        offsets: The (start, end) characters of each of n sub-words, leading or trailing white
            space included or not, without the special tokens that a model puts around a text.
        ends: Where words end, from `linguistic_ends`.

    Returns:
        At most n segments in text order, disjoint in sub-words and in characters.

    Raises:
        ValueError: If an offset lies outside the text.

    >>> text = "Wires don't."
    >>> pieces = [(0, 4), (4, 5), (6, 9), (9, 10), (10, 11), (11, 12)]  # Wire s don ' t .
    >>> [text[s.start : s.end] for s in segments(text, pieces, linguistic_ends(text))]
    ['Wires', "don't", '.']
    """
    if any(not 0 <= start <= end <= len(text) for start, end in offsets):
        raise ValueError("a sub-word lies outside the text: are these its own offsets?")
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
    """Return the segment of a run of sub-words, or nothing if it holds only white space."""
    inked = [(start, end) for start, end in places[first : last + 1] if text[start:end].strip()]
    if not inked:
        return []
    return [Segment(first, last, min(start for start, _ in inked), max(end for _, end in inked))]


def _trim(text: str, start: int, end: int) -> Place:
    """Take white space off both ends; a place of nothing else stays as it is."""
    piece = text[start:end]
    if not piece.strip():
        return start, end
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def _next_starts(places: Sequence[Place], length: int) -> list[int]:
    """For each sub-word, the first character that any later one covers; `length` if none does."""
    ahead = [length] * len(places)
    for index in range(len(places) - 1, 0, -1):
        start, end = places[index]
        ahead[index - 1] = min(ahead[index], start) if start < end else ahead[index]
    return ahead


def _between(marks: Sequence[int], low: int, high: int) -> bool:
    """Whether any of the sorted marks lies in [low, high]."""
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
            raise UsageError(f"no words in {language!r} yet: {reason}; or use language=xx") from None
        raise UsageError(
            f"spaCy has no language {language!r}; use xx for any other, or one of: {', '.join(known)}"
        ) from None
