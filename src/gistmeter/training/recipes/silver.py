"""Read silver data (texts parsed by another pipeline) and convert it to spaCy Docs.

A row is one JSON line: `id`, `domain`, `text`, `tokens`, `spaces`, `tag`, `dep`, `head` (index of each word's
head), `sent_start` (indices of sentence-initial words), and word spans [start, end): `ents` [start, end,
label], `noun_chunks` [start, end].
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain, pairwise
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from gistmeter.core.errors import DataError


@dataclass(frozen=True, slots=True)
class Silver:
    """A parsed text, or a few sentences of one.

    Args:
        words: Words.
        spaces: Whether a space follows each word.
        tags: Penn Treebank tag of each word.
        deps: Dependency relation of each word to its head.
        heads: Index of each word's head; the root of a sentence is its own head.
        starts: Indices of sentence-initial words, ascending from 0.
        entities: (start, end, label) of entities, in words.
        chunks: (start, end) of noun chunks, in words.
    """

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    tags: tuple[str, ...]
    deps: tuple[str, ...]
    heads: tuple[int, ...]
    starts: tuple[int, ...]
    entities: tuple[tuple[int, int, str], ...]
    chunks: tuple[tuple[int, int], ...]

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Silver":
        """Build a parsed text from a row.

        Raises:
            KeyError, TypeError, ValueError: If the row is invalid.
        """
        words = tuple(row["tokens"])
        columns = [tuple(row[key]) for key in ("spaces", "tag", "dep", "head")]
        if any(len(column) != len(words) for column in columns):
            raise ValueError("columns of unequal lengths")
        spaces, tags, deps, heads = columns
        entities = tuple((start, end, label) for start, end, label in row["ents"])
        chunks = tuple((start, end) for start, end in row["noun_chunks"])
        text = cls(
            words, tuple(map(bool, spaces)), tags, deps, heads, tuple(row["sent_start"]), entities, chunks
        )
        text._check()
        return text

    def lower(self) -> "Silver":
        """Return a lower-cased copy with a space after every word, the style of most systems' summaries."""
        return replace(
            self, words=tuple(word.lower() for word in self.words), spaces=(True,) * len(self.words)
        )

    def groups(self, sentences: int) -> "list[Silver]":
        """Split into parts of at most `sentences` sentences."""
        cuts = [*self.starts[::sentences], len(self.words)]
        return [self._part(start, end) for start, end in pairwise(cuts)]

    def _check(self) -> None:
        """Raise ValueError if a head or span crosses a sentence boundary."""
        bounds = [*self.starts, len(self.words)]
        if bounds[0] != 0 or any(a >= b for a, b in pairwise(bounds)):
            raise ValueError("sentence starts outside the text or not ascending")
        ends = {word: end for start, end in pairwise(bounds) for word in range(start, end)}
        named = ((start, end) for start, end, _ in self.entities)
        links = chain(enumerate(self.heads), ((start, end - 1) for start, end in chain(named, self.chunks)))
        if any(ends[a] != ends.get(b) for a, b in links):
            raise ValueError("a head or span outside its sentence")

    def _part(self, start: int, end: int) -> "Silver":
        where = slice(start, end)
        return Silver(
            self.words[where],
            self.spaces[where],
            self.tags[where],
            self.deps[where],
            tuple(head - start for head in self.heads[where]),
            tuple(place - start for place in self.starts if start <= place < end),
            tuple((a - start, b - start, label) for a, b, label in self.entities if start <= a < end),
            tuple((a - start, b - start) for a, b in self.chunks if start <= a < end),
        )

    def gold(self, vocab: Vocab) -> Doc:
        """Return a Doc with all labels except noun chunks, which spaCy derives by rule."""
        bio = ["O"] * len(self.words)
        for start, end, label in self.entities:
            bio[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
        labels: dict[str, Any] = {"tags": list(self.tags), "deps": list(self.deps), "heads": list(self.heads)}
        return Doc(vocab, words=list(self.words), spaces=list(self.spaces), ents=bio, **labels)

    def bare(self, vocab: Vocab) -> Doc:
        """Return a Doc to parse, with words, spaces and sentence starts only."""
        starts = set(self.starts)
        begins: list[bool | int | None] = [place in starts for place in range(len(self.words))]
        return Doc(vocab, words=list(self.words), spaces=list(self.spaces), sent_starts=begins)


def read_silver(data: Mapping[str, Any]) -> Iterator[tuple[str, Silver]]:
    """Yield the id and parsed text of each row that a recipe selects.

    Args:
        data: The recipe's `data` table: `silver`, the file; `skip_domains`; and optionally `skip_texts`, a
            file of pairs, with `skip_datasets`, the names of the data sets in it whose texts to skip.

    Raises:
        DataError: If a file is missing or a row is invalid.
    """
    unwanted = _unwanted(data)
    for number, row in enumerate(_rows(data["silver"]), start=1):
        try:
            if row["domain"] in data.get("skip_domains", ()) or _beginning(row["text"]) in unwanted:
                continue
            found = row["id"], Silver.from_row(row)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{data['silver']}, row {number}: not a parsed text ({error})") from error
        yield found


def held_out(name: str, share: float) -> bool:
    """Return whether a text is in the held-out share (0 to 1), based on a hash of its id."""
    return int(sha256(name.encode()).hexdigest()[:8], 16) < share * 2**32


def _unwanted(data: Mapping[str, Any]) -> set[str]:
    if not data.get("skip_texts"):
        return set()
    pairs = [row for row in _rows(data["skip_texts"]) if row["dataset"] in data["skip_datasets"]]
    return {_beginning(row[side]) for row in pairs for side in ("source", "candidate")}


def _beginning(text: str) -> str:
    """Return the first 100 characters without white space: copies of a text differ in spacing and length."""
    return "".join(text.split())[:100]


def _rows(path: str) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)
    except (OSError, EOFError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(
            f"cannot read {path} ({reason}); give the recipe the path of a complete copy"
        ) from error
