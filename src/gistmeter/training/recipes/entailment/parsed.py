"""Parsed texts from which wrong and right claims are made: sentences with words, their heads, and factors."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from gistmeter.text.factors import Pipeline
from gistmeter.text.sentences import split_sentences
from gistmeter.training.texts import TextPair

if TYPE_CHECKING:
    from spacy.tokens import Doc

READ = 2000
"""Characters of a source that are parsed; evidence is chosen from the whole of it."""
LENGTHS = (6, 45)
"""Fewest and most words of a sentence that serves as a claim."""
STEM = 5
"""Two words count as the same if they share so many first letters."""
NUMBERS = ("CARDINAL", "MONEY", "ORDINAL", "PERCENT", "QUANTITY")
NAMES = ("EVENT", "FAC", "GPE", "LOC", "NORP", "ORG", "PERSON", "PRODUCT", "WORK_OF_ART")
DATES = {
    "year": r"(?:1[5-9]|20)\d\d",
    "weekday": r"(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: (?:morning|evening|afternoon|night))?",
    "month": r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"(?: \d{1,4})?",
    "duration": r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten) ?-?"
    r"(?:day|week|month|year|hour|minute)s?",
}
"""Dates of one kind exclude each other; what is of no kind ("this week") may hold together with another."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a parsed sentence.

    Args:
        text: As it stands.
        start: First character in the sentence.
        end: One past the last.
        tag: Its Penn Treebank tag.
        dep: What it is to its head.
        head: Index of its head; its own for a root.
        first: Index of the first word that depends on it, directly or not.
        last: Index of the last one.
    """

    text: str
    start: int
    end: int
    tag: str
    dep: str
    head: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Part:
    """An entity or a noun chunk of a sentence.

    Args:
        start: First character in the sentence.
        end: One past the last.
        text: As it stands.
        group: What may stand there besides: `PERSON`, `DATE-year`, `NP-one`, `NP-many`.
        head: Index of its last word, on which the others depend.
    """

    start: int
    end: int
    text: str
    group: str
    head: int

    @property
    def named(self) -> bool:
        """Whether it is a name."""
        return self.group in NAMES


@dataclass(frozen=True)
class Sentence:
    """A parsed sentence.

    Args:
        text: As it stands.
        words: In order; none is white space.
        parts: In order, none overlapping another.
    """

    text: str
    words: tuple[Word, ...]
    parts: tuple[Part, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its content words."""
        return content(self.text)

    def placed(self, word: Word) -> tuple[int, int]:
        """Return the characters of a word and of all that depends on it."""
        return self.words[word.first].start, self.words[word.last].end

    @cached_property
    def root(self) -> int | None:
        """The index of its only root; None if it has several."""
        roots = [at for at, word in enumerate(self.words) if word.head == at]
        return roots[0] if len(roots) == 1 else None

    @property
    def sound(self) -> bool:
        """Whether it can stand alone as a claim: of some length, closed, and no question or quotation."""
        shortest, longest = LENGTHS
        closed = re.search(r"[^\W_]{2}[\"')]* ?\.$", self.text) is not None
        whole = (
            re.match(r"[^\W_]", self.text) is not None
            and re.search(r"[\"“”‘`]|''|(?<!\w)'(?!\w)|\s\s", self.text) is None
        )
        return shortest <= len(self.words) <= longest and closed and whole

    def with_part(self, start: int, end: int, text: str) -> str:
        """Return its text with another one between two characters."""
        said = text[:1].upper() + text[1:] if start == 0 and self.text[:1].isupper() else text
        return self.text[:start] + said + self.text[end:]


@dataclass(frozen=True, eq=False)
class Document:
    """A source and what is said about it.

    Args:
        source: The whole text.
        sentences: The parsed sentences of its beginning.
        claims: The sentences of its summary or simplification.
    """

    source: str
    sentences: tuple[Sentence, ...]
    claims: tuple[Sentence, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The content words of the whole source."""
        return content(self.source)

    def together(self, one: str, other: str) -> bool:
        """Whether a sentence names both: if it does, they are hardly two names of one thing."""
        wanted = content(one) | content(other)
        return any(wanted <= sentence.stems for sentence in self.sentences)


def parse_pairs(pairs: Sequence[TextPair], pipeline: Pipeline) -> list[Document]:
    """Parse the texts of pairs with an English pipeline."""
    cut = [(_sentences(pair.source[:READ]), _sentences(pair.candidate)) for pair in pairs]
    with pipeline.session() as nlp:
        texts = [text for both in cut for side in both for text in side]
        parsed = iter([_sentence(doc) for doc in nlp.pipe(texts)])
        found = [[tuple(next(parsed) for _ in side) for side in both] for both in cut]
    return [Document(pair.source, *both) for pair, both in zip(pairs, found, strict=True)]


def content(text: str) -> frozenset[str]:
    """Return the stems of a text's content words, numbers included."""
    words = re.findall(r"[^\W_]+(?:[.,]\d+)*", text.lower())
    return frozenset(
        word if word[0].isdigit() else word[:STEM]
        for word in words
        if word not in _stop_words() and word != "s"
    )


@cache
def _stop_words() -> frozenset[str]:
    from spacy.lang.en.stop_words import STOP_WORDS

    numbers = "two three four five six eight nine ten eleven twelve fifteen twenty forty fifty sixty hundred"
    return frozenset(STOP_WORDS) - set(numbers.split())


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def _sentence(doc: "Doc") -> Sentence:
    kept = [token for token in doc if not token.is_space]
    number = {token.i: at for at, token in enumerate(kept)}
    words = tuple(
        Word(
            token.text,
            token.idx,
            token.idx + len(token),
            token.tag_,
            token.dep_,
            number.get(token.head.i, at),
            number.get(token.left_edge.i, at),
            number.get(token.right_edge.i, at),
        )
        for at, token in enumerate(kept)
    )
    return Sentence(doc.text, words, tuple(_parts(doc, number)))


def _parts(doc: "Doc", number: dict[int, int]) -> Iterable[Part]:
    """Find entities and the noun chunks that overlap none, as ClozE's factors."""
    spans = [(span, _group(span.label_, span.text)) for span in doc.ents]
    taken = {token.i for span in doc.ents for token in span}
    chunks = (span for span in doc.noun_chunks if taken.isdisjoint(range(span.start, span.end)))
    many = ("NNS", "NNPS")
    spans += [
        (span, "NP-many" if span.root.tag_ in many else "NP-one")
        for span in chunks
        if span.root.tag_ in ("NN", *many)
    ]
    for span, group in sorted(spans, key=lambda found: found[0].start):
        if span.root.i in number:
            yield Part(span.start_char, span.end_char, span.text, group, number[span.root.i])


def _group(label: str, text: str) -> str:
    if label not in ("DATE", "TIME"):
        return label
    kinds = (kind for kind, pattern in DATES.items() if re.fullmatch(pattern, text.lower()))
    return f"DATE-{next(kinds, 'other')}"
