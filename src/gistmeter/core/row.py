"""The `Row` type: an example with its human judgements."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gistmeter.core.example import Example

FIELDS = ("id", "candidate", "source", "references", "system", "doc_id", "scores")
"""The fields of a row, in the order in which error messages list them."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of an input file.

    Args:
        example: The example to score. For an unreadable row, its id is the position ("line 12") and its
            candidate is empty.
        scores: Human judgements by dimension; all are finite.
        problem: The reason why the row could not be read; None if it was read.
    """

    example: Example
    scores: Mapping[str, float] = field(default_factory=dict)
    problem: str | None = None
