"""Batches: each row once per epoch, in an order that the seed and the step alone determine."""

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Batches:
    """Batches of rows, shuffled anew every epoch.

    Args:
        rows: Number of rows, at least 1.
        size: Rows per batch; the last batch of an epoch may be smaller.
        seed: Seed of the order.

    >>> plan = Batches(rows=5, size=2, seed=1)
    >>> len(plan), [plan.rows_of(step) for step in range(3)], plan.epoch(3)
    (3, [[2, 1], [0, 4], [3]], 1)
    """

    rows: int
    size: int
    seed: int

    def __len__(self) -> int:
        """Return the number of batches per epoch."""
        return (self.rows + self.size - 1) // self.size

    def epoch(self, step: int) -> int:
        """Return the epoch, counted from 0, that a step belongs to."""
        return step // len(self)

    def rows_of(self, step: int) -> list[int]:
        """Return the row numbers of a step's batch."""
        order = list(range(self.rows))
        random.Random(f"{self.seed}/{self.epoch(step)}").shuffle(order)
        start = step % len(self) * self.size
        return order[start : start + self.size]


@dataclass(frozen=True, slots=True)
class LengthBatches:
    """Batches of rows of similar length, which saves padding.

    Each pool is a random draw of `pool` batches' rows; it is sorted by length, cut into `pool` parts, and
    the parts are served in random order. The last pool of an epoch has the rows and batches that are left.

    Args:
        lengths: Length of each row; at least one row.
        size: Rows per batch, on average.
        pool: Batches per pool; with 1, batches are drawn without sorting.
        seed: Seed of the order.

    >>> plan = LengthBatches(lengths=(9, 1, 8, 2), size=2, pool=2, seed=1)
    >>> len(plan), [plan.rows_of(step) for step in range(2)]
    (2, [[1, 3], [2, 0]])
    """

    lengths: Sequence[int]
    size: int
    pool: int
    seed: int

    def __len__(self) -> int:
        """Return the number of batches per epoch."""
        return (len(self.lengths) + self.size - 1) // self.size

    def rows_of(self, step: int) -> list[int]:
        """Return the row numbers of a step's batch: one part of a pool, never empty."""
        epoch, batch = divmod(step, len(self))
        pool, part = divmod(batch, self.pool)
        number = epoch * len(self._pools) + pool
        rows = self._pools.rows_of(number)
        if self.pool == 1:
            return rows
        parts = min(self.pool, len(self) - pool * self.pool)
        order = list(range(parts))
        random.Random(f"{self.seed}/{number}").shuffle(order)
        ranked = sorted(rows, key=self.lengths.__getitem__)
        first, last = (len(ranked) * at // parts for at in (order[part], order[part] + 1))
        return ranked[first:last]

    @property
    def _pools(self) -> Batches:
        return Batches(len(self.lengths), self.size * self.pool, self.seed)
