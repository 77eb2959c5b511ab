"""The `Row` type: an example with its human judgements."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from gistmeter.core.example import Example

FIELDS = ("id", "candidate", "source", "references", "system", "doc_id", "language", "scores")
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


def with_language(rows: Iterable[Row], language: str | None) -> Iterator[Row]:
    """Yield rows, with a language for those that name none.

    Args:
        rows: The rows.
        language: The primary subtag of the language; None changes nothing.
    """
    for row in rows:
        if language is not None and row.example.language is None:
            row = replace(row, example=replace(row.example, language=language))  # noqa: PLW2901
        yield row
