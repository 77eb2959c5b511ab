"""One input row: an example, and what people said of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gistmeter.core.example import Example

FIELDS = ("id", "candidate", "source", "references", "system", "doc_id", "scores")
"""The fields of a row, in the order in which documents list them."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of an input file.

    Args:
        example: What to score. A row that could not be read is called "line 12" and has no text.
        scores: Human judgements by dimension, all of them finite.
        problem: Why the row could not be read; None if it could.
    """

    example: Example
    scores: Mapping[str, float] = field(default_factory=dict)
    problem: str | None = None
