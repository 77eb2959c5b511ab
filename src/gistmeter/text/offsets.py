"""The way back from a re-joined text to the user's own characters.

ClozE puts single spaces between the words of a text before it masks any (`It is n't so .`), yet what
a reader gets to see is marked in the text that the user gave.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from gistmeter.text.words import Place, word_spans


@dataclass(frozen=True, slots=True)
class Rejoined:
    """A text whose words stand one space apart, with its map to the text it was made from.

    Args:
        text: The words, joined by single spaces.
        joined: Where each of n words starts in `text`.
        original: Where each of them starts in the user's own text.
    """

    text: str
    joined: tuple[int, ...]
    original: tuple[int, ...]

    def to_original(self, start: int, end: int) -> Place:
        """Return the characters of the user's own text that a stretch of `text` stands for.

        Spaces at the stretch's ends are left out; a stretch of nothing else gives an empty place.
        Takes O(log n).

        Args:
            start: First character in `text`.
            end: One past the last.

        Raises:
            ValueError: If the stretch lies outside `text`.

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
        """Return the stretch of `text` that some characters of the user's own text became.

        White space at the ends is left out; a stretch of nothing else gives an empty place.

        >>> rejoin("It  isn't so.").to_joined(4, 9)
        (3, 9)
        """
        if not 0 <= start <= end:
            raise ValueError(f"({start}, {end}) is not a stretch of text")
        return self._carry(start, end, self.original, self.joined)

    def _length(self, word: int) -> int:
        """Length of a word, which is the same in both texts."""
        last = word == len(self.joined) - 1
        return (len(self.text) if last else self.joined[word + 1] - 1) - self.joined[word]

    def _carry(self, start: int, end: int, here: Sequence[int], there: Sequence[int]) -> Place:
        """Map a stretch from the text whose words start at `here` to the one where they start at `there`."""
        first = max(bisect_right(here, start) - 1, 0)
        if first < len(here) and start >= here[first] + self._length(first):
            first += 1  # it begins between two words
        last = bisect_left(here, end) - 1
        if last < first:
            return self._point(first, there)
        begin = there[first] + max(start - here[first], 0)
        return begin, there[last] + min(end - here[last], self._length(last))

    def _point(self, word: int, there: Sequence[int]) -> Place:
        """Return the empty place for a stretch without a word: before `word`, or after the last one."""
        if word < len(there):
            return there[word], there[word]
        point = there[-1] + self._length(len(there) - 1) if there else 0
        return point, point


def rejoin(text: str, words: Sequence[Place] | None = None) -> Rejoined:
    """Put single spaces between the words of a text.

    Args:
        text: The user's own text.
        words: The (start, end) characters of its words, in order and without overlap; those of
            `word_spans` in English by default. Words of nothing but white space are left out.
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
