"""Index of a text that finds word sequences in time linear in their length."""

from collections.abc import Sequence


class SubstringIndex:
    """Suffix automaton over words (Blumer et al., 1985).

    It accepts exactly the word sequences that occur in the text, has at most two states per word, and stays
    linear for very repetitive texts.

    Args:
        words: n words of the text.

    >>> SubstringIndex(["a", "b", "a", "c"]).longest_prefix(["x", "a", "c", "b"], start=1)
    (2, 2)
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._link: list[int] = [-1]
        self._length: list[int] = [0]
        self._end: list[int] = [0]
        last = 0
        for word in words:
            last = self._extend(last, word)

    def longest_prefix(self, words: Sequence[str], start: int) -> tuple[int, int]:
        """Find the longest sequence of words, from `start` on, that occurs in the indexed text.

        Args:
            words: Words of another text.
            start: Index of the first word of the sequence.

        Returns:
            Number of words, and index of the first occurrence in the indexed text; (0, 0) if the text does
            not contain the first word.
        """
        state = length = 0
        while start + length < len(words):
            ahead = self._next[state].get(words[start + length])
            if ahead is None:
                break
            state, length = ahead, length + 1
        return length, self._end[state] - length

    def _extend(self, last: int, word: str) -> int:
        """Append a word, and return the state of the complete text so far."""
        whole = self._add({}, self._length[last] + 1, self._length[last] + 1)
        state = last
        while state != -1 and word not in self._next[state]:
            self._next[state][word] = whole
            state = self._link[state]
        self._link[whole] = 0 if state == -1 else self._split(state, word)
        return whole

    def _split(self, state: int, word: str) -> int:
        """Return the state of the suffix `state` + `word`; clone the state if longer suffixes share it."""
        target = self._next[state][word]
        if self._length[target] == self._length[state] + 1:
            return target
        clone = self._add(dict(self._next[target]), self._length[state] + 1, self._end[target])
        self._link[clone], self._link[target] = self._link[target], clone
        while state != -1 and self._next[state].get(word) == target:
            self._next[state][word] = clone
            state = self._link[state]
        return clone

    def _add(self, following: dict[str, int], length: int, end: int) -> int:
        self._next.append(following)
        self._link.append(0)
        self._length.append(length)
        self._end.append(end)
        return len(self._next) - 1
