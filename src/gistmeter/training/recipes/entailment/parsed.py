"""Parse texts into sentences with words, dependencies and phrases, from which synthetic claims are made."""

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
"""Number of characters of a source that are parsed; evidence is selected from the whole source."""
LENGTHS = (6, 45)
"""Minimum and maximum number of words of a claim."""
STEM = 5
"""Number of initial letters by which two words count as the same."""
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
"""Kinds of dates. Dates of one kind exclude each other; other dates ("this week") may be compatible."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a parsed sentence.

    Args:
        text: Surface form.
        start: First character, relative to the sentence.
        end: One past the last character.
        tag: Penn Treebank tag.
        dep: Dependency relation to the head.
        head: Index of the head; a root is its own head.
        first: Index of the first word of its subtree.
        last: Index of the last word of its subtree.
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
        start: First character, relative to the sentence.
        end: One past the last character.
        text: Surface form.
        group: Phrases of one group are interchangeable: `PERSON`, `DATE-year`, `NP-one`, `NP-many`.
        head: Index of its head word.
    """

    start: int
    end: int
    text: str
    group: str
    head: int

    @property
    def named(self) -> bool:
        """Whether the phrase is a named entity."""
        return self.group in NAMES


@dataclass(frozen=True)
class Sentence:
    """A parsed sentence.

    Args:
        text: Text.
        words: Words in order, without white-space tokens.
        parts: Entities and noun chunks in order, without overlap.
    """

    text: str
    words: tuple[Word, ...]
    parts: tuple[Part, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of the content words."""
        return content(self.text)

    def placed(self, word: Word) -> tuple[int, int]:
        """Return the character range of a word's subtree."""
        return self.words[word.first].start, self.words[word.last].end

    @cached_property
    def root(self) -> int | None:
        """Index of the root; None if there is not exactly one."""
        roots = [at for at, word in enumerate(self.words) if word.head == at]
        return roots[0] if len(roots) == 1 else None

    @property
    def sound(self) -> bool:
        """Whether the sentence works as a claim: right length, ends with a period, no quotation."""
        shortest, longest = LENGTHS
        closed = re.search(r"[^\W_]{2}[\"')]* ?\.$", self.text) is not None
        whole = (
            re.match(r"[^\W_]", self.text) is not None
            and re.search(r"[\"“”‘`]|''|(?<!\w)'(?!\w)|\s\s", self.text) is None
        )
        return shortest <= len(self.words) <= longest and closed and whole

    def with_part(self, start: int, end: int, text: str) -> str:
        """Return the text with a character range replaced."""
        said = text[:1].upper() + text[1:] if start == 0 and self.text[:1].isupper() else text
        return self.text[:start] + said + self.text[end:]


@dataclass(frozen=True, eq=False)
class Document:
    """A parsed source with its summary or simplification.

    Args:
        source: Full source text.
        sentences: Parsed sentences from the beginning of the source.
        claims: Parsed sentences of the summary or simplification.
    """

    source: str
    sentences: tuple[Sentence, ...]
    claims: tuple[Sentence, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of the content words of the whole source."""
        return content(self.source)

    def together(self, one: str, other: str) -> bool:
        """Return whether one sentence contains both phrases, so that they are probably not coreferent."""
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
    """Find entities, and noun chunks that overlap no entity, like ClozE's factors."""
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
