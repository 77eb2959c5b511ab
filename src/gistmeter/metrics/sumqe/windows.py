"""Long texts in windows of whole sentences that overlap, where the paper cuts at 512 tokens."""

from collections.abc import Sequence
from itertools import accumulate

Ids = tuple[int, ...]
OVERLAP = 4
"""A window begins with up to this part, a quarter, of its room that the one before it has read as well."""


def pieces_of(sentences: Sequence[Ids], room: int) -> list[tuple[int, Ids]]:
    """Cut sentences that do not fit into a window alone; leave out those without a token.

    Args:
        sentences: Tokens of each.
        room: Most tokens of a piece.

    Returns:
        For each piece, which sentence it is of, and its tokens.
    """
    return [
        (number, sentence[at : at + room])
        for number, sentence in enumerate(sentences)
        for at in range(0, len(sentence), room)
    ]


def windows(lengths: Sequence[int], room: int) -> list[tuple[int, int]]:
    """Share pieces out among windows, as few as their order allows.

    Args:
        lengths: Tokens of each piece, none longer than the room.
        room: Most tokens of a window.

    Returns:
        (first, one past the last) piece of each window; neighbours overlap where there is room for it.

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
