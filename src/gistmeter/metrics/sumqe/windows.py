"""Split long texts into overlapping windows of whole sentences; the paper truncates at 512 tokens."""

from collections.abc import Sequence
from itertools import accumulate

Ids = tuple[int, ...]
OVERLAP = 4
"""Neighboring windows overlap by at most 1/OVERLAP of the window."""


def pieces_of(sentences: Sequence[Ids], room: int) -> list[tuple[int, Ids]]:
    """Split sentences that exceed a window into chunks; skip sentences without tokens.

    Args:
        sentences: Token IDs of each sentence.
        room: Maximum number of tokens per chunk.

    Returns:
        Sentence number and token IDs of each chunk.
    """
    return [
        (number, sentence[at : at + room])
        for number, sentence in enumerate(sentences)
        for at in range(0, len(sentence), room)
    ]


def windows(lengths: Sequence[int], room: int) -> list[tuple[int, int]]:
    """Distribute consecutive chunks over as few windows as possible.

    Args:
        lengths: Number of tokens of each chunk, at most `room`.
        room: Maximum number of tokens per window.

    Returns:
        (first, one past the last) chunk of each window; neighboring windows overlap if chunks fit.

    >>> windows([3, 3, 3], 10), windows([4, 2, 4, 4], 10), windows([9, 9], 10)
    ([(0, 3)], [(0, 3), (3, 4)], [(0, 1), (1, 2)])
    >>> windows([2] * 8, 8)
    [(0, 4), (3, 7), (6, 8)]
    """
    ends = [0, *accumulate(lengths)]
    found: list[tuple[int, int]] = []
    start, end = 0, 0
    while end < len(lengths):
        while end < len(lengths) and ends[end + 1] - ends[start] <= room:
            end += 1
        found.append((start, end))
        if end < len(lengths):
            first = end
            while ends[end] - ends[first - 1] <= room // OVERLAP and ends[end + 1] - ends[first - 1] <= room:
                first -= 1
            start = first
    return found
