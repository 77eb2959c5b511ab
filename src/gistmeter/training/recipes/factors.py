"""Where the factors of training texts lie: what ClozE will blank out (section 3.2)."""

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
        """Its first character."""

    @property
    def end(self) -> int:
        """One past the last."""


def factor_places(
    texts: Sequence[str], tokens: Mapping[str, Tokens], pipeline: Pipeline
) -> dict[str, tuple[Place, ...]]:
    """Find the entities of texts, and the noun chunks that overlap none, in tokens.

    Args:
        texts: The texts.
        tokens: Of each of them.
        pipeline: Finds the factors.

    Returns:
        For each text, the (first, one past the last) token of each factor, in text order; a factor that
        begins or ends within a token is left out.
    """
    marked = find_factors(texts, pipeline, "entity_first")
    return {
        text: tuple(found for factor in one.factors if (found := place(factor, tokens[text])) is not None)
        for text, one in zip(texts, marked, strict=True)
    }


def place(factor: Stretch, tokens: Tokens) -> Place | None:
    """Return the (first, one past the last) token of a stretch, or None if it cuts through a token."""
    starts, ends = tokens.offsets[:, 0].tolist(), tokens.offsets[:, 1].tolist()
    first, last = bisect_left(starts, factor.start), bisect_left(ends, factor.end)
    if last >= len(ends) or first > last or (starts[first], ends[last]) != (factor.start, factor.end):
        return None
    return first, last + 1
