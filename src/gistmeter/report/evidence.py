"""Where the other texts support or contradict a span: read from its note, or found by its words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from gistmeter.core.example import Example, Side
from gistmeter.core.score import Span
from gistmeter.report.check import DOUBT

MOST = 3  # places of one word
SHORT = 4  # characters; shorter words in lower case stand everywhere
LONG = 200  # characters; longer notes are no quotation of a few words
_SIDE = r"(?P<side>source|candidate|reference)(?: (?P<index>\d+))?"
_PLACE = re.compile(_SIDE + r" (?P<start>\d+):(?P<end>\d+)")
_QUOTE = re.compile(_SIDE + r": (?P<text>.+)", re.DOTALL)
_ANSWER = re.compile(r"(?:→ )?(?P<text>.*?)…?(?: \(confidence \d?\.\d\d\))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of one text of an example."""

    side: Side
    index: int
    start: int
    end: int


class Evidence:
    """Finds the evidence of an example's spans.

    Args:
        example: Whose texts the spans lie in.

    >>> example = Example(candidate="It sank near Harle.", source="It was towed to Harle.")
    >>> Evidence(example).of(Span("candidate", 13, 18, 0.2, note="→ Sorn (confidence .83)"))
    [Place(side='source', index=0, start=16, end=21)]
    >>> Evidence(example).of(Span("candidate", 3, 7, 0.2, note="source 3:12"))
    [Place(side='source', index=0, start=3, end=12)]
    """

    def __init__(self, example: Example) -> None:
        self._texts = list(example.texts())
        # Lower case may be longer than the text; offsets in it are then of no use.
        self._lowered = [
            text.lower() if len(text.lower()) == len(text) else text for _, _, text in self._texts
        ]

    def of(self, span: Span) -> list[Place]:
        """Return the places that the note names or quotes; else where its words, or the span's, stand."""
        if found := _PLACE.fullmatch(span.note):
            place = Place(*_side(found), int(found["start"]), int(found["end"]))
            return [place] if place.start < place.end <= len(self._text(place.side, place.index)) else []
        if found := _QUOTE.fullmatch(span.note):
            side, index = _side(found)
            text = found["text"].partition(DOUBT)[0]
            start = self._text(side, index).find(text)
            return [] if start < 0 else [Place(side, index, start, start + len(text))]
        own = self._text(span.side, span.index)[span.start : span.end]
        answer = _ANSWER.fullmatch(span.note)
        for words in (answer["text"] if answer else "", own):
            if places := list(self._places(words.strip(), span.side)):
                return places
        return []

    def _text(self, side: Side, index: int) -> str:
        return next((text for *where, text in self._texts if where == [side, index]), "")

    def _places(self, words: str, side: Side) -> Iterator[Place]:
        telling = len(words) >= SHORT or any(c.isdigit() or c.isupper() for c in words)
        if not telling or len(words) > LONG:
            return
        for (other, index, _), text in zip(self._texts, self._lowered, strict=True):
            if (other == "candidate") != (side == "candidate"):
                for start in islice(_words_at(words.lower(), text), MOST):
                    yield Place(other, index, start, start + len(words))


def _words_at(words: str, text: str) -> Iterator[int]:
    """Yield where words stand as whole words; compiling a regular expression for each would take longer."""
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        if not (_in_word(text[start - 1 : start]) or _in_word(text[end : end + 1])):
            yield start
        start = text.find(words, end)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _side(found: re.Match[str]) -> tuple[Side, int]:
    sides: Sequence[Side] = ("candidate", "source", "reference")
    return next(side for side in sides if side == found["side"]), int(found["index"] or 0)
