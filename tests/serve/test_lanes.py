"""The queue of a metric: each unit once, requests in turn, batches of a bounded size."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from gistmeter.core.example import Example
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.serve.lanes import LEAST, MOST, ROWS, Lane, Unit


def units(request: str, lengths: list[int]) -> list[Unit]:
    """Return units with these numbers of characters; must be called where an event loop runs."""
    loop = asyncio.get_running_loop()
    return [
        Unit(Row(Example(f"{request}{at}", "x" * length)), loop.create_future())
        for at, length in enumerate(lengths)
    ]


@given(
    st.lists(st.lists(st.integers(0, 2 * LEAST), max_size=8), max_size=6),
    st.sets(st.integers(0, 5)),
)
def test_each_unit_is_taken_once_in_the_order_of_its_request(
    lengths: list[list[int]], drop: set[int]
) -> None:
    async def run() -> None:
        lane = Lane()
        for request, own in enumerate(lengths):
            for unit in units(f"{request}-", own):
                lane.add(request, unit)
        assert lane.waiting == sum(map(len, lengths))
        for request in drop:
            lane.drop(request)
        taken: list[str] = []
        while batch := lane.take():
            assert len(batch) == 1 or sum(unit.characters for unit in batch) <= lane.budget
            taken += [unit.row.example.id for unit in batch]
        for request, own in enumerate(lengths):
            mine = [id for id in taken if id.startswith(f"{request}-")]
            assert mine == ([] if request in drop else [f"{request}-{at}" for at in range(len(own))])
        assert (lane.waiting, lane.characters) == (0, 0)

    asyncio.run(run())


def test_a_small_request_does_not_wait_for_a_large_one() -> None:
    async def run() -> None:
        lane = Lane()
        for unit in units("large", [1] * (2 * ROWS)):
            lane.add("large", unit)
        lane.take()
        (small,) = units("small", [1])
        lane.add("small", small)
        assert small in lane.take()[:2]

    asyncio.run(run())


def test_dropped_units_are_cancelled() -> None:
    async def run() -> None:
        lane = Lane()
        one, other = units("r", [1, 1])
        lane.add("one", one)
        lane.add("other", other)
        lane.drop("one")
        assert one.score.cancelled()
        assert not other.score.done()
        other.score.set_result(Score("r1", 1.0))
        assert lane.take() == [other]

    asyncio.run(run())


def test_batches_follow_the_speed_of_the_metric() -> None:
    async def run() -> None:
        lane = Lane()
        small, full = units("r", [1, LEAST])
        lane.adapt([small], 0.01)
        assert lane.budget == LEAST, "a small batch tells nothing of a large one"
        lane.adapt([full], 0.01)
        assert lane.budget == 2 * LEAST
        lane.adapt([full], 0.7)
        assert lane.budget == 2 * LEAST
        for _ in range(20):
            lane.adapt([full], 5.0)
        assert lane.budget == LEAST
        huge = units("r", [MOST])
        for _ in range(20):
            lane.adapt(huge, 0.01)
        assert lane.budget == MOST

    asyncio.run(run())
