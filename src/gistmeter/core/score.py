"""The `Score` type: a value with its components, and the text spans that explain it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from gistmeter.core.example import Side


@dataclass(frozen=True, slots=True)
class Span:
    """A span of the user's text with its own score.

    Args:
        side: The text that contains the span.
        start: Offset of the first character.
        end: Offset after the last character.
        value: The span's own score, on the metric's scale; NaN if it has none.
        weight: Its weight in the mean over its side, before normalization; at least 0.
        note: The model's output for the span: the best match, or the predicted words.
        index: The index of the reference, counted from 0; 0 on the other sides.
    """

    side: Side
    start: int
    end: int
    value: float
    weight: float = 1.0
    note: str = ""
    index: int = 0


@dataclass(frozen=True, slots=True)
class Flag:
    """A warning about a score, such as truncated input.

    Args:
        name: `truncated`, `empty_side`, `degenerate`, `no_factors`, `unknown_language`, `other_language`, …
        side: The text that the flag is about; None if it is about the example.
        kept: The number of tokens of that text that the model read.
        total: The number of tokens of the whole text.
        index: The index of the reference, counted from 0.

    >>> str(Flag("truncated", "source", kept=510, total=1322))
    'truncated (source, 510 of 1322)'
    """

    name: str
    side: Side | None = None
    kept: int | None = None
    total: int | None = None
    index: int = 0

    def __str__(self) -> str:
        side = f"reference {self.index}" if self.side == "reference" else self.side
        share = None if self.kept is None else f"{self.kept} of {self.total}"
        details = ", ".join(detail for detail in (side, share) if detail)
        return f"{self.name} ({details})" if details else self.name


@dataclass(frozen=True, slots=True)
class Score:
    """The result of a metric for one example.

    Args:
        id: The example's id.
        value: The score; NaN exactly when `problem` is set.
        parts: Components of the score by name; an undefined component is NaN.
        spans: The spans of text that explain the value.
        flags: Warnings about the score.
        problem: The reason why there is no value; None if there is one.

    Raises:
        ValueError: If the value is NaN without a problem, or a number with one.
    """

    id: str
    value: float
    parts: Mapping[str, float] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    flags: tuple[Flag, ...] = ()
    problem: str | None = None

    def __post_init__(self) -> None:
        if math.isnan(self.value) != (self.problem is not None):
            raise ValueError(f"score {self.id!r}: the value is NaN exactly when there is a problem")

    @classmethod
    def undefined(cls, id: str, problem: str, flags: tuple[Flag, ...] = ()) -> "Score":
        """Return the score of an example that cannot be scored, with the reason."""
        return cls(id, math.nan, flags=flags, problem=problem)
