"""Score a stream of NDJSON: rows come in and scores go out at the same time, in the same order."""

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gistmeter.core.errors import BadRow
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.io.formats import parse_line
from gistmeter.io.rows import row_at
from gistmeter.serve.bodies import NDJSON, chunks
from gistmeter.serve.problems import Problem
from gistmeter.serve.query import Query

WINDOW = 256
"""Rows of one stream that wait at a time, for their scores or for the client to read them."""
TURN = 1_000
"""Lines after which other requests have a turn."""
Line = tuple[str, str | BadRow]
Scored = tuple[Row, "asyncio.Task[list[Score]]"]


class Unread:
    """The part of a body that has arrived and is not split into lines yet.

    It stays bytes: short lines take many times their size as Python objects.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._changed = asyncio.Event()
        self._ended = False
        self._problem: Problem | None = None

    def add(self, piece: bytes) -> None:
        """Append a piece of the body."""
        self._bytes += piece
        self._changed.set()

    def end(self, problem: Problem | None = None) -> None:
        """Note that the body has ended, and the problem that ended it."""
        self._ended, self._problem = True, problem
        self._changed.set()

    async def lines(self) -> AsyncIterator[Line]:
        """Remove and yield the lines as they arrive; after a problem, a last line says so."""
        number = searched = 0
        while True:
            end = self._bytes.find(b"\n", searched)
            if end < 0 and not self._ended:
                searched = len(self._bytes)
                self._changed.clear()
                await self._changed.wait()
                continue
            if end < 0 and self._problem is not None:  # the line may be incomplete
                yield f"after line {number}", BadRow(f"{self._problem}; the rest is not scored")
                return
            number += 1
            searched = 0
            yield _line(number, self._take(end))
            if end < 0:
                return
            if number % TURN == 0:
                await asyncio.sleep(0)

    def _take(self, end: int) -> bytes:
        """Remove and return the line that ends there; all that is left if it has no end."""
        size = len(self._bytes) if end < 0 else end
        line = bytes(self._bytes[:size])
        del self._bytes[: size + 1]
        return line


class Lines(Response):
    """The response to a stream.

    Three tasks work at the same time: one reads the body, one lets its rows wait for scores, one writes the
    scores. The body is read even while the client does not read scores, because many clients send their
    whole body first. The memory is bounded by the limit on the body and by `WINDOW` rows with their scores.
    """

    media_type = NDJSON

    def __init__(self, query: Query) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._query = query
        self._unread = Unread()
        self._scored: asyncio.Queue[Scored | None] = asyncio.Queue(WINDOW)
        self._window = asyncio.Semaphore(WINDOW)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            async with asyncio.TaskGroup() as group:
                reader = group.create_task(self._read(receive))
                submitter = group.create_task(self._submit())
                await self._write(send)
                reader.cancel()  # it waits for the client to go away
                submitter.cancel()
        except* (ClientDisconnect, OSError):
            pass  # nobody reads the answer
        finally:
            self._query.service.batcher.drop(self)

    async def _read(self, receive: Receive) -> None:
        """Keep the body as it arrives; after its end, wait for the client to go away."""
        try:
            async for piece in chunks(receive, self._query.service.limits):
                self._unread.add(piece)
            self._unread.end()
        except Problem as problem:  # the answer has begun, so it ends with a row that says why
            self._unread.end(problem)
        while (await receive())["type"] != "http.disconnect":
            pass
        raise ClientDisconnect

    async def _submit(self) -> None:
        """Let rows wait for their scores, as many as fit."""
        service = self._query.service
        number = 0
        async for place, text in self._unread.lines():
            if isinstance(text, str) and not text.strip():
                continue
            number += 1
            row = row_at((place, parse_line(text) if isinstance(text, str) else text), number, {})
            await self._window.acquire()
            await service.room()
            task = asyncio.create_task(service.scores(self, row, self._query.labels))
            await self._scored.put((row, task))
        await self._scored.put(None)

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        while (scored := await self._scored.get()) is not None:
            row, task = scored
            body = b"".join(self._query.lines(row, await task))
            more = send({"type": "http.response.body", "body": body, "more_body": True})
            await asyncio.wait_for(more, self._query.service.limits.seconds)  # a client that does not read
            self._window.release()
        await send({"type": "http.response.body", "body": b""})


def _line(number: int, line: bytes) -> Line:
    try:
        return f"line {number}", line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        return f"line {number}", BadRow(f"not UTF-8 text at byte {error.start + 1}")
