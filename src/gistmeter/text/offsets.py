"""Map character offsets between a re-joined text and the user's text.

ClozE joins the words of a text with single spaces before masking (`It is n't so .`); spans in the output
refer to the user's text.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from gistmeter.text.words import Place, word_spans


@dataclass(frozen=True, slots=True)
class Rejoined:
    """A text with single spaces between words, and its mapping to the user's text.

    Args:
        text: The words, joined by single spaces.
        joined: The start offset of each of n words in `text`.
        original: The start offset of each word in the user's text.
    """

    text: str
    joined: tuple[int, ...]
    original: tuple[int, ...]

    def to_original(self, start: int, end: int) -> Place:
        """Map a span of `text` to the user's text, in O(log n).

        Spaces at the ends of the span are dropped; a span of spaces only gives an empty span.

        Args:
            start: Offset of the first character in `text`.
            end: Offset after the last character.

        Raises:
            ValueError: If the span lies outside `text`.

        >>> joined = rejoin("It  isn't so.")
        >>> joined.text
        "It is n't so ."
        >>> joined.to_original(3, 9), "It  isn't so."[4:9]
        ((4, 9), "isn't")
        """
        if not 0 <= start <= end <= len(self.text):
            raise ValueError(f"({start}, {end}) lies outside a text of {len(self.text)} characters")
        return self._carry(start, end, self.joined, self.original)

    def to_joined(self, start: int, end: int) -> Place:
        """Map a span of the user's text to `text`.

        White space at the ends of the span is dropped; a span of white space only gives an empty span.

        >>> rejoin("It  isn't so.").to_joined(4, 9)
        (3, 9)
        """
        if not 0 <= start <= end:
            raise ValueError(f"({start}, {end}) is not a span; give 0 <= start <= end")
        return self._carry(start, end, self.original, self.joined)

    def _length(self, word: int) -> int:
        """Return the length of a word, which is the same in both texts."""
        last = word == len(self.joined) - 1
        return (len(self.text) if last else self.joined[word + 1] - 1) - self.joined[word]

    def _carry(self, start: int, end: int, here: Sequence[int], there: Sequence[int]) -> Place:
        """Map a span from the text with word starts `here` to the text with word starts `there`."""
        first = max(bisect_right(here, start) - 1, 0)
        if first < len(here) and start >= here[first] + self._length(first):
            first += 1  # the span starts between two words
        last = bisect_left(here, end) - 1
        if last < first:
            return self._point(first, there)
        begin = there[first] + max(start - here[first], 0)
        return begin, there[last] + min(end - here[last], self._length(last))

    def _point(self, word: int, there: Sequence[int]) -> Place:
        """Return the empty span before `word`, or after the last word, for a span without words."""
        if word < len(there):
            return there[word], there[word]
        point = there[-1] + self._length(len(there) - 1) if there else 0
        return point, point


def rejoin(text: str, words: Sequence[Place] | None = None) -> Rejoined:
    """Join the words of a text with single spaces.

    Args:
        text: The user's text.
        words: The (start, end) offsets of its words, in order and without overlap; by default, those of
            `word_spans` in English. Words that are only white space are dropped.
    """
    given = word_spans(text) if words is None else words
    spans = [(start, end) for start, end in given if text[start:end].strip()]
    joined = []
    at = 0
    for start, end in spans:
        joined.append(at)
        at += end - start + 1
    return Rejoined(
        " ".join(text[start:end] for start, end in spans), tuple(joined), tuple(s for s, _ in spans)
    )
