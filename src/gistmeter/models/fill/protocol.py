"""Blanks in a text and what a language model fills them with: the words all fillers share.

Metrics cut texts and place blanks; a filler knows its family's format (sentinels, masks, decoder positions)
and runs the model. The adapters are `models.fill.t5`, `models.fill.masked_lm` and `models.fill.bart`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gistmeter.models.run.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Query:
    """A text with blanks, and another text to fill them from. Token ids carry no special tokens.

    Args:
        text: The tokens of the text with the blanks, as they stand before blanking: they hold the gold ids.
        blanks: (first token, one past the last) of each blank in `text`: in order, apart or touching,
            not empty.
        context: The tokens of the other text, already cut so that the whole fits into the window.
        context_first: Whether the context stands before the text.
    """

    text: tuple[int, ...]
    blanks: tuple[tuple[int, int], ...]
    context: tuple[int, ...] = ()
    context_first: bool = True

    def __len__(self) -> int:
        return len(self.text) + len(self.context)


@dataclass(frozen=True, slots=True)
class Fill:
    """What a model put into one blank.

    Args:
        predicted: Token ids of its greedy prediction. Where `complete` is False the model left the gold text
            at the last of these ids and was not asked further, since no continuation could still match.
        matches: Whether the greedy prediction, decoded, equals the gold text under lower-casing. A gold text
            that decodes to nothing, or holds a part of a character, is matched by the same tokens only.
        predicted_probabilities: Of each predicted token, given the tokens before it.
        gold_probabilities: Of each gold token, given the gold tokens before it (or the masks).
        gold_ranks: Rank of each gold token among the vocabulary, 1 for the most probable.
        complete: Whether `predicted` is the whole prediction.
    """

    predicted: tuple[int, ...]
    matches: bool
    predicted_probabilities: tuple[float, ...]
    gold_probabilities: tuple[float, ...]
    gold_ranks: tuple[int, ...]
    complete: bool = True


class Filler(Protocol):
    """A language model that fills blanks."""

    @property
    def identity(self) -> str:
        """What signatures call the model."""

    @property
    def window(self) -> int | None:
        """Most tokens of a query, or of each of its two texts, special ones included; None for no limit."""

    @property
    def separate_windows(self) -> bool:
        """Whether text and context have a window each, so that a long text takes no room from its context."""

    def overhead(self, query_blanks: int) -> int:
        """How many tokens the format adds to text and context of a query with that many blanks.

        May be negative where a whole blank is replaced by one sentinel: count the blank's own tokens as kept.
        """

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Tokenize whole texts, uncut, without special tokens."""

    def decode(self, ids: Sequence[int]) -> str:
        """Turn token ids into text, special tokens left out."""

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        """Return, for each query, one fill a blank. Equal queries run once; the order is kept."""
