"""Which rows a step learns from: every row once an epoch, in an order that the step alone decides."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Batches:
    """Rows in batches, shuffled anew every epoch.

    Args:
        rows: How many there are; at least 1.
        size: Rows of a batch; the last one of an epoch may be smaller.
        seed: Of the order.

    >>> plan = Batches(rows=5, size=2, seed=1)
    >>> len(plan), [plan.rows_of(step) for step in range(3)], plan.epoch(3)
    (3, [[2, 1], [0, 4], [3]], 1)
    """

    rows: int
    size: int
    seed: int

    def __len__(self) -> int:
        """How many batches an epoch has."""
        return (self.rows + self.size - 1) // self.size

    def epoch(self, step: int) -> int:
        """Return which epoch, counted from 0, a step belongs to."""
        return step // len(self)

    def rows_of(self, step: int) -> list[int]:
        """Return the numbers of a step's rows."""
        order = list(range(self.rows))
        random.Random(f"{self.seed}/{self.epoch(step)}").shuffle(order)
        start = step % len(self) * self.size
        return order[start : start + self.size]
