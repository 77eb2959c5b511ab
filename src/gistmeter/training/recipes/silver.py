"""Silver rows, texts that another pipeline has parsed, as spaCy Docs to train and to measure on.

A row is one JSON line: `id`, `domain`, `text`, `tokens`, `spaces`, `tag`, `dep`, `head` (of each word, the
place of its head in the text), `sent_start` (places of the first words of sentences), and [start, end)
spans of words: `ents` [start, end, label], `noun_chunks` [start, end].
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
        words: One string each.
        spaces: Whether a space follows the word.
        tags: Part of speech of each word, in the Penn Treebank's tags.
        deps: Relation of each word to its head.
        heads: Place of each word's head; its own for the root of a sentence.
        starts: Places of the first words of sentences, ascending from 0.
        entities: (first word, one past the last, label).
        chunks: (first word, one past the last) of noun chunks.
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
        """Build it from a row.

        Raises:
            KeyError, TypeError, ValueError: If the row is not as it should be.
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
        """Return it lower-cased, a space after every word: most systems write summaries so."""
        return replace(
            self, words=tuple(word.lower() for word in self.words), spaces=(True,) * len(self.words)
        )

    def groups(self, sentences: int) -> "list[Silver]":
        """Cut it into parts of at most so many sentences."""
        cuts = [*self.starts[::sentences], len(self.words)]
        return [self._part(start, end) for start, end in pairwise(cuts)]

    def _check(self) -> None:
        """Raise ValueError if anything reaches out of its sentence."""
        bounds = [*self.starts, len(self.words)]
        if bounds[0] != 0 or any(a >= b for a, b in pairwise(bounds)):
            raise ValueError("sentences outside the text")
        ends = {word: end for start, end in pairwise(bounds) for word in range(start, end)}
        named = ((start, end) for start, end, _ in self.entities)
        links = chain(enumerate(self.heads), ((start, end - 1) for start, end in chain(named, self.chunks)))
        if any(ends[a] != ends.get(b) for a, b in links):
            raise ValueError("a head or a span outside its sentence")

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
        """Return a Doc with all labels but noun chunks, which spaCy finds by rules."""
        bio = ["O"] * len(self.words)
        for start, end, label in self.entities:
            bio[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
        labels: dict[str, Any] = {"tags": list(self.tags), "deps": list(self.deps), "heads": list(self.heads)}
        return Doc(vocab, words=list(self.words), spaces=list(self.spaces), ents=bio, **labels)

    def bare(self, vocab: Vocab) -> Doc:
        """Return a Doc to be parsed: words, spaces and where sentences start."""
        starts = set(self.starts)
        begins: list[bool | int | None] = [place in starts for place in range(len(self.words))]
        return Doc(vocab, words=list(self.words), spaces=list(self.spaces), sent_starts=begins)


def read_silver(data: Mapping[str, Any]) -> Iterator[tuple[str, Silver]]:
    """Read (id, parsed text) of the rows that a recipe wants.

    Args:
        data: The recipe's: `silver`, the file; `skip_domains`; and, if texts of certain sets of pairs are
            left out, `skip_texts`, the file that holds the pairs, with `skip_datasets`, the sets' names.

    Raises:
        DataError: If a file is not there or a row is not as it should be.
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
    """Say whether a text, by its id, belongs to the share (0 to 1) that is kept for measuring."""
    return int(sha256(name.encode()).hexdigest()[:8], 16) < share * 2**32


def _unwanted(data: Mapping[str, Any]) -> set[str]:
    if not data.get("skip_texts"):
        return set()
    pairs = [row for row in _rows(data["skip_texts"]) if row["dataset"] in data["skip_datasets"]]
    return {_beginning(row[side]) for row in pairs for side in ("source", "candidate")}


def _beginning(text: str) -> str:
    """Return the beginning of a text without its spaces: copies of one text differ in spaces and length."""
    return "".join(text.split())[:100]


def _rows(path: str) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)
    except (OSError, EOFError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: {reason}; give the recipe the path of a whole copy") from error
