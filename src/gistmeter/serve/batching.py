"""Dynamic batching: one thread scores the rows of all requests, metric by metric."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Protocol

from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.serve.lanes import Lane, Unit

WINDOW, LONGEST = 0.010, 0.100
"""Seconds without a new row after which a batch starts, and the most that it waits for rows."""
ScoreRows = Callable[[str, Sequence[Row]], list[Score]]


class Watcher(Protocol):
    """Counts batches."""

    def batch(self, label: str, rows: int, seconds: float) -> None:
        """Count a batch that was scored."""


class Batcher:
    """Collects rows on the event loop, and scores them in a thread.

    Args:
        score: Scores rows by the metric of that label. Runs in the thread, one call at a time: metrics are
            not made for several threads.
        thread: The thread: an executor with one worker.
        watcher: Counts what is done.
    """

    def __init__(self, score: ScoreRows, thread: Executor, watcher: Watcher) -> None:
        self._score = score
        self._thread = thread
        self._watcher = watcher
        self._lanes: dict[str, Lane] = {}
        self._arrived = asyncio.Event()
        self._freed = asyncio.Event()
        self._pace = 0.1  # seconds per score

    @property
    def waiting(self) -> int:
        """The number of scores that wait."""
        return sum(lane.waiting for lane in self._lanes.values())

    def add(self, request: object, label: str, row: Row) -> "asyncio.Future[Score]":
        """Let a row of a request wait for a metric; return its score to come."""
        score: asyncio.Future[Score] = asyncio.get_running_loop().create_future()
        self._lanes.setdefault(label, Lane()).add(request, Unit(row, score))
        self._arrived.set()
        return score

    def drop(self, request: object) -> None:
        """Forget what waits for a request; the batch that is being scored is finished."""
        for lane in self._lanes.values():
            lane.drop(request)
        self._freed.set()

    def seconds_for(self, scores: int) -> int:
        """Estimate how long so many scores take, from 1 to 60 seconds."""
        return min(60, max(1, math.ceil(scores * self._pace)))

    async def freed(self) -> None:
        """Return when rows have stopped waiting."""
        self._freed.clear()
        await self._freed.wait()

    async def run(self) -> None:
        """Score what arrives, until cancelled."""
        while True:
            await self._arrived.wait()
            await self._gather()
            for label, lane in list(self._lanes.items()):  # each metric in turn
                await self._batch(label, lane)
            if self.waiting:
                self._arrived.set()

    async def _gather(self) -> None:
        """Return when a batch is full or no more rows arrive: clients that have their scores send again."""
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST
        with suppress(TimeoutError):
            while loop.time() < end and not any(lane.full for lane in self._lanes.values()):
                self._arrived.clear()
                await asyncio.wait_for(self._arrived.wait(), WINDOW)
        self._arrived.clear()

    async def _batch(self, label: str, lane: Lane) -> None:
        batch = [unit for unit in lane.take() if not unit.score.done()]
        self._freed.set()
        if not batch:
            return
        start = time.perf_counter()
        rows = [unit.row for unit in batch]
        loop = asyncio.get_running_loop()
        scores = await loop.run_in_executor(self._thread, self._score, label, rows)
        seconds = time.perf_counter() - start
        lane.adapt(batch, seconds)
        self._pace += 0.2 * (seconds / len(batch) - self._pace)
        self._watcher.batch(label, len(batch), seconds)
        for unit, score in zip(batch, scores, strict=True):
            if not unit.score.done():
                unit.score.set_result(score)
