"""The `Example` type: a text to score, with its source and references."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal

from gistmeter.core.errors import UsageError
from gistmeter.core.language import primary

Side = Literal["candidate", "source", "reference"]
Need = Literal["source", "references"]


class _NotGiven(str):
    """Marks an Example that is created without a candidate; differs from an empty text."""

    __slots__ = ()


_NOT_GIVEN = _NotGiven()


def is_missing(value: object) -> bool:
    """Return whether a value is a missing value: None, NaN, or pandas' NA and NaT.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if isinstance(value, str):
        return False
    if isinstance(value, Real):
        return bool(value != value)  # noqa: PLR0124 - NaN of any number type, numpy's too
    return value is None or type(value).__name__ in ("NAType", "NaTType")


@dataclass(frozen=True, slots=True)
class Example:
    """A candidate text with the texts and labels that belong to it.

    A missing candidate or reference (None or NaN) becomes an empty text; a metric that requires it reports
    a problem for this example.

    Args:
        id: Identifies the row; returned with its score. `gistmeter.score` numbers examples without an id by
            their position, from 1.
        candidate: The summary or simplification to score.
        source: The text that the candidate summarizes or simplifies.
        references: Human-written summaries or simplifications of the same source.
        system: The system that wrote the candidate; groups rows for system-level correlation.
        doc_id: The document of the source; groups rows for summary-level correlation and in bootstraps.
        language: The language of the texts, a BCP 47 tag, of which the primary subtag is kept: `pt-BR`
            becomes `pt`. None if it is not known; a metric then assumes a language that it scores.

    Raises:
        UsageError: If there is no candidate, a text is not a string, or `references` is a single string.
        ValueError: If the language is not a BCP 47 tag.

    >>> Example("1", "A cat sat.", references=["A cat was sitting."]).references
    ('A cat was sitting.',)
    >>> Example(candidate="A cat sat.").id
    ''
    """

    id: str = ""
    candidate: str = _NOT_GIVEN
    source: str | None = None
    references: Sequence[str] = ()
    system: str | None = None
    doc_id: str | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        if self.candidate is _NOT_GIVEN:
            raise UsageError("an Example needs a candidate; write Example(candidate=TEXT)")
        references: object = self.references  # a caller without a type checker may pass anything
        if isinstance(references, str) and references:
            raise UsageError("references must be a list of texts, not one text; write references=[TEXT]")
        given = () if is_missing(references) else self.references
        known = {
            "id": _label(self.id) or "",
            "candidate": "" if is_missing(self.candidate) else self.candidate,
            "source": None if is_missing(self.source) else self.source,
            "references": tuple("" if is_missing(text) else text for text in given),
            "system": _label(self.system),
            "doc_id": _label(self.doc_id),
            "language": None if is_missing(self.language) else primary(str(self.language)),
        }
        for name, value in known.items():
            object.__setattr__(self, name, value)
        for side, _, text in self.texts():
            if not isinstance(text, str):
                raise UsageError(f"{side} must be a string, not {type(text).__name__}")

    def texts(self) -> Iterator[tuple[Side, int, str]]:
        """Yield each text as (side, index, text); the index counts references and is 0 for other sides."""
        yield "candidate", 0, self.candidate
        if self.source is not None:
            yield "source", 0, self.source
        for index, reference in enumerate(self.references):
            yield "reference", index, reference

    def compared(self, need: Need) -> list[tuple[Side, int, str]]:
        """Return the candidate and the texts that it is compared with, as in `texts`.

        Args:
            need: The field with the other texts: the source, or the references.

        >>> Example("1", "A cat.", source="A cat sat.", references=["Cat."]).compared("references")
        [('candidate', 0, 'A cat.'), ('reference', 0, 'Cat.')]
        """
        left_out = "reference" if need == "source" else "source"
        return [text for text in self.texts() if text[0] != left_out]


def _label(value: object) -> str | None:
    return None if is_missing(value) else str(value)
