"""Split rated pairs into parts, independent of their order."""

import hashlib
from collections.abc import Sequence
from typing import Literal

from gistmeter.core.errors import DataError

Split = Literal["document", "example"]
PAPER_SHARE = 700 / 1600
"""Share of SummEval's pairs that train the paper's weights; the others test them (section 4.2)."""


def share_out(keys: Sequence[str], split: Split, parts: int, seed: int) -> list[list[int]]:
    """Split rows into parts of nearly equal size by hashes.

    Args:
        keys: Name of each row; rows with the same name stay together.
        split: Unit that a name stands for, for the error message.
        parts: Number of parts.
        seed: Seed of the split.

    Returns:
        Row numbers of each part.

    Raises:
        DataError: If there are fewer names than parts.
    """
    order = _shuffled(keys, seed)
    if len(order) < parts:
        raise DataError(
            f"{len(order)} {split}s cannot be split into {parts} parts; provide more rows or use fewer parts"
        )
    part = {key: at % parts for at, key in enumerate(order)}
    return [[at for at, key in enumerate(keys) if part[key] == number] for number in range(parts)]


def draw_apart(keys: Sequence[str], share: float, seed: int) -> tuple[list[int], list[int]]:
    """Draw a share of the rows at random, as the paper draws 700 of 1600 examples.

    Args:
        keys: Name of each row.
        share: Share of the rows to draw, in (0, 1).
        seed: Seed of the draw.

    Returns:
        Numbers of the drawn rows, and of all others, ascending.

    >>> draw_apart(["a", "b", "c", "d"], 0.5, seed=1)
    ([1, 3], [0, 2])
    """
    order = _shuffled(keys, seed)
    drawn = set(order[: round(share * len(order))])
    chosen = [at for at, key in enumerate(keys) if key in drawn]
    return chosen, [at for at, key in enumerate(keys) if key not in drawn]


def _shuffled(keys: Sequence[str], seed: int) -> list[str]:
    return sorted(set(keys), key=lambda key: hashlib.sha256(f"{seed}\n{key}".encode()).hexdigest())
