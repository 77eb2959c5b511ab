"""Find the factors of training texts, as ClozE blanks them (section 3.2), in tokens."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Protocol

from gistmeter.models.run.tokens import Tokens
from gistmeter.text.factors import Pipeline, find_factors

Place = tuple[int, int]


class Stretch(Protocol):
    """A part of a text."""

    @property
    def start(self) -> int:
        """The first character."""

    @property
    def end(self) -> int:
        """One past the last character."""


def factor_places(
    texts: Sequence[str], tokens: Mapping[str, Tokens], pipeline: Pipeline
) -> dict[str, tuple[Place, ...]]:
    """Find the token ranges of entities, and of noun chunks that overlap no entity.

    Args:
        texts: Texts.
        tokens: Tokens by text.
        pipeline: Pipeline that finds the factors.

    Returns:
        For each text, the token range [start, end) of each factor, in text order. Factors that begin or end
        within a token are omitted.
    """
    marked = find_factors(texts, pipeline, "entity_first")
    return {
        text: tuple(found for factor in one.factors if (found := place(factor, tokens[text])) is not None)
        for text, one in zip(texts, marked, strict=True)
    }


def place(factor: Stretch, tokens: Tokens) -> Place | None:
    """Return the token range [start, end) of a stretch, or None if it begins or ends within a token."""
    starts, ends = tokens.offsets[:, 0].tolist(), tokens.offsets[:, 1].tolist()
    first, last = bisect_left(starts, factor.start), bisect_left(ends, factor.end)
    if last >= len(ends) or first > last or (starts[first], ends[last]) != (factor.start, factor.end):
        return None
    return first, last + 1
