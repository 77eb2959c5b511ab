"""Split a candidate into the texts of the queries, and map factors to tokens (section 3.5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gistmeter.models.run.tokens import Tokens
from gistmeter.text.factors import Factor, MarkedText

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Text of one query: a sentence of the candidate, or the whole candidate.

    Args:
        text: Words separated by single spaces.
        start: Offset of the first character in the candidate's re-joined text.
        factors: Factors within the chunk, in text order.
    """

    text: str
    start: int
    factors: tuple[Factor, ...]


def cut_chunks(marked: MarkedText, level: Literal["sentence", "summary"]) -> tuple[Chunk, ...]:
    """Split a candidate into one chunk per query text (section 3.5)."""
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
    """Return (first token, one past the last) for each factor of a chunk.

    A token belongs to a factor if they share a character other than white space. A factor whose characters
    the tokenizer drops gets an empty range.
    """
    starts, ends = _inked(chunk.text, tokens.offsets.tolist())
    places = []
    for factor in chunk.factors:
        start, end = factor.joined_start - chunk.start, factor.joined_end - chunk.start
        hits = np.flatnonzero((starts < end) & (ends > start) & (starts < ends))
        places.append((int(hits[0]), int(hits[-1]) + 1) if len(hits) else (0, 0))
    return places


def _inked(text: str, offsets: Sequence[Sequence[int]]) -> "tuple[np.ndarray, np.ndarray]":
    """Return start and end offsets of tokens without surrounding white space, each of shape (tokens,)."""
    stretches = [text[start:end] for start, end in offsets]
    starts = [end - len(chunk.lstrip()) for chunk, (_, end) in zip(stretches, offsets, strict=True)]
    ends = [start + len(chunk.rstrip()) for chunk, (start, _) in zip(stretches, offsets, strict=True)]
    return np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)
