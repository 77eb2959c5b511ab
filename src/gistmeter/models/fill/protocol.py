"""Defines the `Filler` protocol and its types: queries with blanks, and the predicted fills.

Metrics tokenize texts and place blanks. A filler implements the input format of a model family (sentinels,
masks, decoder positions) and runs the model. The adapters are `models.fill.t5`, `models.fill.masked_lm` and
`models.fill.bart`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gistmeter.models.run.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Query:
    """A text with blanks and a context to fill them from. Token ids contain no special tokens.

    Args:
        text: The original token ids of the text, including the gold tokens of the blanks.
        blanks: Start and end (exclusive) of each blank in `text`: not empty, in order, not overlapping.
        context: The token ids of the other text, truncated so that the query fits into the window.
        context_first: Whether the context precedes the text.
    """

    text: tuple[int, ...]
    blanks: tuple[tuple[int, int], ...]
    context: tuple[int, ...] = ()
    context_first: bool = True

    def __len__(self) -> int:
        return len(self.text) + len(self.context)


@dataclass(frozen=True, slots=True)
class Fill:
    """The prediction of a model for one blank.

    Args:
        predicted: Token ids of the greedy prediction. If `complete` is False, decoding stopped after the last
            of these ids, because no continuation can equal the gold text.
        matches: Whether the decoded greedy prediction equals the gold text, ignoring case. If the gold text
            decodes to nothing or contains part of a character, the tokens must be equal.
        predicted_probabilities: The probability of each predicted token, given the tokens before it.
        gold_probabilities: The probability of each gold token, given the gold tokens before it (or the
            masks).
        gold_ranks: The rank of each gold token in the vocabulary; 1 is the most probable.
        complete: Whether `predicted` is the complete prediction.
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
        """The name of the model in signatures."""

    @property
    def window(self) -> int | None:
        """Maximum tokens of a query, or of each of its texts, special tokens included; None for no limit."""

    @property
    def separate_windows(self) -> bool:
        """Whether text and context have separate windows, so a long text does not shorten its context."""

    def overhead(self, query_blanks: int) -> int:
        """Return the number of tokens that the format adds to a query with the given number of blanks.

        Can be negative if one sentinel replaces a whole blank; count the tokens of the blank as kept.
        """

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Tokenize texts without truncation and without special tokens."""

    def decode(self, ids: Sequence[int]) -> str:
        """Decode token ids without special tokens."""

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        """Return one fill per blank for each query, in input order. Equal queries run once."""
