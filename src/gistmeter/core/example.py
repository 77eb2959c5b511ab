"""One text to be judged, with what it is judged against."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Side = Literal["candidate", "source", "reference"]
Need = Literal["source", "references"]


@dataclass(frozen=True, slots=True)
class Example:
    """A candidate text and what is known about it.

    Args:
        id: Names the row; returned with its score.
        candidate: The summary or simplification to judge.
        source: The text it was made from.
        references: Texts that people wrote for the same source.
        system: What produced the candidate; groups rows at system level.
        doc_id: Which document the row is about; groups rows at document level and in bootstraps.

    Raises:
        TypeError: If `candidate` is not a text, or `references` is one text instead of several.

    >>> Example("1", "A cat sat.", references=["A cat was sitting."]).references
    ('A cat was sitting.',)
    """

    id: str
    candidate: str
    source: str | None = None
    references: Sequence[str] = ()
    system: str | None = None
    doc_id: str | None = None

    def __post_init__(self) -> None:
        references: object = self.references  # a caller without a type checker may hand in one text
        if isinstance(references, str):
            raise TypeError("references must be a list of texts, not one text")
        object.__setattr__(self, "references", tuple(self.references))
        for side, _, text in self.texts():
            if not isinstance(text, str):
                raise TypeError(f"{side} must be a text, not {type(text).__name__}")

    def texts(self) -> Iterator[tuple[Side, int, str]]:
        """Yield every text of the example as (side, index among the references or 0, text)."""
        yield "candidate", 0, self.candidate
        if self.source is not None:
            yield "source", 0, self.source
        for index, reference in enumerate(self.references):
            yield "reference", index, reference
