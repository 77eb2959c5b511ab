"""When a batch starts."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from gistmeter.core.example import Example
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.serve import batching
from gistmeter.serve.batching import Batcher
from gistmeter.serve.counters import Counters
from gistmeter.serve.lanes import LEAST


def test_a_batch_that_becomes_full_while_it_waits_for_more_rows_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batching, "WINDOW", 3600.0)
    monkeypatch.setattr(batching, "LONGEST", 3600.0)

    def score(label: str, rows: Sequence[Row]) -> list[Score]:
        return [Score(row.example.id, 1.0) for row in rows]

    async def run() -> list[Score]:
        with ThreadPoolExecutor(1) as thread:
            batcher = Batcher(score, thread, Counters())
            running = asyncio.create_task(batcher.run())
            first = batcher.add("one", "held", Row(Example("small", "x")))
            await asyncio.sleep(0.01)  # the batch waits by now
            second = batcher.add("two", "held", Row(Example("large", "x" * LEAST)))
            scores = await asyncio.wait_for(first, 60), await asyncio.wait_for(second, 60)
            running.cancel()
        return list(scores)

    assert [score.id for score in asyncio.run(run())] == ["small", "large"]
