"""Streams of NDJSON without a connection: how the body arrives, and what a stream keeps in memory."""

import asyncio
import json
import tracemalloc
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.types import Message

from gistmeter.io.rows import row_at
from gistmeter.serve import stream
from gistmeter.serve.query import Query
from gistmeter.serve.stream import TURN, WINDOW, Lines, Unread
from tests.serve.running import Held, service_of

Send = Callable[[bytes], Awaitable[None]]


async def answer(pieces: list[bytes], send: Send) -> None:
    """Answer a stream that arrives in these pieces; pass what is sent to a function."""
    service = service_of(Held())
    left = list(reversed(pieces))

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        body = left.pop()
        return {"type": "http.request", "body": body, "more_body": bool(left)}

    async def sent(message: Message) -> None:
        if message.get("body"):
            await send(message["body"])

    async with service.running():
        while not service.ready:
            await asyncio.sleep(0.001)
        await Lines(Query(service, ("held",), None))({}, receive, sent)


def rows_of(pieces: list[bytes]) -> list[dict[str, Any]]:
    """Return the answer to a stream that arrives in these pieces."""
    bodies: list[bytes] = []

    async def send(body: bytes) -> None:
        bodies.append(body)

    asyncio.run(answer(pieces, send))
    return [json.loads(line) for line in b"".join(bodies).splitlines()]


def test_lines_do_not_depend_on_the_pieces_in_which_they_arrive() -> None:
    texts = ["Регн", "x" * 50, "雨\u2028."]
    rows = [{"id": text[0], "candidate": text} for text in texts]
    body = "\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode() + b"\n\xff"
    whole = rows_of([body])
    assert [row["value"] for row in whole] == [4, 50, 3, None]
    assert whole[-1]["id"] == "line 6"
    for size in (1, 7, 60):
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        assert rows_of(pieces) == whole
        assert rows_of([*pieces, b""]) == whole


def test_a_client_that_does_not_read_costs_little_more_memory_than_its_body(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built, sent, count = 0, 0, 20_000

    def counted(*given: Any) -> Any:  # noqa: ANN401 - as row_at
        nonlocal built
        built += 1
        return row_at(*given)

    async def send(body: bytes) -> None:
        nonlocal sent
        if not sent:
            tracemalloc.start()
            before = -1
            while built > before:  # until the stream stands still
                before = built
                await asyncio.sleep(0.05)
            assert built <= WINDOW + 1
            assert tracemalloc.get_traced_memory()[1] < 2 * 2**20
            tracemalloc.stop()
        sent += 1

    monkeypatch.setattr(stream, "row_at", counted)
    rows = b'{"candidate": "x"}\n' * 300 + b"1\n" * (count - 300)
    asyncio.run(answer([rows[at : at + 2**12] for at in range(0, len(rows), 2**12)], send))
    assert sent == built == count


def test_lines_that_are_all_there_do_not_stop_other_requests() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def run() -> None:
        unread = Unread()
        unread.add(b"\n" * 50 * TURN)
        unread.end()
        watcher = asyncio.create_task(other())
        assert len([line async for line in unread.lines()]) == 50 * TURN + 1
        watcher.cancel()

    asyncio.run(run())
    assert turns == 50
