"""Rows that wait for one metric, taken from all requests in turn."""

import asyncio
from collections import deque
from dataclasses import dataclass

from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.engine.local import SHARE

LEAST, MOST = SHARE, 1_000_000  # characters of a batch; smaller ones would leave the models' batches unfilled
QUICK, SLOW = 0.4, 1.0  # seconds
ROWS = 512


@dataclass(frozen=True, slots=True)
class Unit:
    """One row that waits for its score by one metric."""

    row: Row
    score: "asyncio.Future[Score]"

    @property
    def characters(self) -> int:
        """The number of characters in the row's texts."""
        return sum(len(text) for _, _, text in self.row.example.texts())


class Lane:
    """The units that wait for one metric.

    A batch takes one unit of each request in turn, so that a small request does not wait for a large one.
    The size of the batches follows the speed of the metric, so that a batch takes about a second: this bounds
    how long a new request waits, and how long a cancelled one is still computed.
    """

    def __init__(self) -> None:
        self.budget = LEAST
        self.waiting = 0
        self.characters = 0
        self._requests: dict[object, deque[Unit]] = {}
        self._turns: deque[object] = deque()

    @property
    def full(self) -> bool:
        """Whether the units fill a batch."""
        return self.characters >= self.budget

    def add(self, request: object, unit: Unit) -> None:
        """Append a unit to those of its request."""
        if request not in self._requests:
            self._requests[request] = deque()
            self._turns.append(request)
        self._requests[request].append(unit)
        self._count(unit, 1)

    def drop(self, request: object) -> None:
        """Remove the units of a request."""
        for unit in self._requests.pop(request, ()):
            self._count(unit, -1)
            unit.score.cancel()

    def take(self) -> list[Unit]:
        """Remove and return the next batch; a single unit may be larger than the budget."""
        batch: list[Unit] = []
        size = 0
        while self._turns and len(batch) < ROWS:
            request = self._turns[0]
            units = self._requests.get(request)
            if not units:  # all taken, or dropped
                self._requests.pop(request, None)
                self._turns.popleft()
                continue
            size += units[0].characters
            if batch and size > self.budget:
                break
            self._count(units[0], -1)
            batch.append(units.popleft())
            self._turns.rotate(-1)
        return batch

    def adapt(self, batch: list[Unit], seconds: float) -> None:
        """Change the size of the next batches, if this one was full and quick, or slow."""
        if seconds > SLOW:
            self.budget = max(LEAST, self.budget // 2)
        elif seconds < QUICK and 2 * sum(unit.characters for unit in batch) > self.budget:
            self.budget = min(MOST, self.budget * 2)

    def _count(self, unit: Unit, sign: int) -> None:
        self.waiting += sign
        self.characters += sign * unit.characters
