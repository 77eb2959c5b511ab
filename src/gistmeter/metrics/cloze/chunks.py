"""The texts that are read beside a document, and which of their tokens each factor is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gistmeter.models.run.tokens import Tokens
from gistmeter.text.factors import Factor, MarkedText

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A sentence of the candidate, or the whole of it.

    Args:
        text: Its words, one space apart.
        start: Its first character in the candidate's re-joined text.
        factors: Those that lie in it, in text order.
    """

    text: str
    start: int
    factors: tuple[Factor, ...]


def cut_chunks(marked: MarkedText, level: Literal["sentence", "summary"]) -> tuple[Chunk, ...]:
    """Cut a candidate into what is read in one query (section 3.5)."""
    text = marked.joined.text
    if level == "summary":
        return (Chunk(text, 0, marked.factors),) if text else ()
    factors: list[list[Factor]] = [[] for _ in marked.sentences]
    for factor in marked.factors:
        factors[factor.sentence].append(factor)
    return tuple(
        Chunk(text[start:end], start, tuple(own))
        for (start, end), own in zip(marked.sentences, factors, strict=True)
    )


def factor_tokens(chunk: Chunk, tokens: Tokens) -> list[Place]:
    """Return (first token, one past the last) of each factor of a chunk.

    A token belongs to a factor if it shares a character with it, white space aside. A factor whose
    characters the tokenizer drops has an empty place.
    """
    starts, ends = _inked(chunk.text, tokens.offsets.tolist())
    places = []
    for factor in chunk.factors:
        start, end = factor.joined_start - chunk.start, factor.joined_end - chunk.start
        hits = np.flatnonzero((starts < end) & (ends > start) & (starts < ends))
        places.append((int(hits[0]), int(hits[-1]) + 1) if len(hits) else (0, 0))
    return places


def _inked(text: str, offsets: Sequence[Sequence[int]]) -> "tuple[np.ndarray, np.ndarray]":
    """Take the white space off both ends of tokens; return where they start and end, shape (tokens,)."""
    stretches = [text[start:end] for start, end in offsets]
    starts = [end - len(chunk.lstrip()) for chunk, (_, end) in zip(stretches, offsets, strict=True)]
    ends = [start + len(chunk.rstrip()) for chunk, (start, _) in zip(stretches, offsets, strict=True)]
    return np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)
