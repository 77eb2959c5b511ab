"""The one result type: a number, its parts, and where in the text it comes from."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from gistmeter.core.example import Side


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the user's own text and what the metric thinks of it.

    Args:
        side: Which text it lies in.
        start: First character.
        end: One past the last character.
        value: The stretch's own score, on the metric's scale; NaN if it has none.
        weight: Its share in the mean over its side, before normalising; at least 0.
        note: What the model said: the best match, the predicted words.
        index: Which reference, counted from 0; 0 on the other sides.
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
    """Something a reader of the score should know.

    Args:
        name: `truncated`, `empty_side`, `degenerate`, `no_factors`, `unknown_language`, …
        side: The text it concerns, if one.
        kept: How much of that text was used, in the model's tokens.
        total: How much there was.
        index: Which reference, counted from 0.

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
    """What a metric says of one example.

    Args:
        id: The example's id.
        value: The score; NaN exactly when `problem` is set.
        parts: Further figures by name; a part that is undefined is NaN.
        spans: Where the value comes from.
        flags: What a reader should know.
        problem: Why there is no value; None if there is one.

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
        """Make the score of an example that cannot be scored, with the reason."""
        return cls(id, math.nan, flags=flags, problem=problem)
