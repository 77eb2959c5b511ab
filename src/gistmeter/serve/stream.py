"""Score a stream of NDJSON: rows come in and scores go out at the same time, in the same order."""

import asyncio

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
"""Rows of one stream that wait for their scores at a time."""
Line = tuple[str, str | BadRow]
Scored = tuple[Row, "asyncio.Task[list[Score]]"]


class Lines(Response):
    """The response to a stream.

    Three tasks work at the same time: one reads lines, one lets their rows wait for scores, one writes the
    scores. The body is read even while the client does not read scores, because many clients send their
    whole body first; the limit on the body bounds the memory.
    """

    media_type = NDJSON

    def __init__(self, query: Query) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._query = query
        self._lines: asyncio.Queue[Line | None] = asyncio.Queue()
        self._scored: asyncio.Queue[Scored | None] = asyncio.Queue()
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
        """Split the body into lines; after its end, wait for the client to go away."""
        number = 0
        pieces: list[bytes] = []  # of a line that goes on
        try:
            async for piece in chunks(receive, self._query.service.limits):
                head, *lines = piece.split(b"\n")
                pieces.append(head)
                for line in lines:
                    number += 1
                    self._lines.put_nowait(_line(number, b"".join(pieces)))
                    pieces = [line]
            self._lines.put_nowait(_line(number + 1, b"".join(pieces)))
        except Problem as problem:  # the answer has begun, so it ends with a row that says why
            self._lines.put_nowait((f"after line {number}", BadRow(f"{problem}; the rest is not scored")))
        self._lines.put_nowait(None)
        while (await receive())["type"] != "http.disconnect":
            pass
        raise ClientDisconnect

    async def _submit(self) -> None:
        """Let rows wait for their scores, as many as fit."""
        service = self._query.service
        number = 0
        while (line := await self._lines.get()) is not None:
            place, text = line
            if isinstance(text, str) and not text.strip():
                continue
            number += 1
            row = row_at((place, parse_line(text) if isinstance(text, str) else text), number, {})
            await self._window.acquire()
            await service.room()
            task = asyncio.create_task(service.scores(self, row, self._query.labels))
            task.add_done_callback(lambda _: self._window.release())
            self._scored.put_nowait((row, task))
        self._scored.put_nowait(None)

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        while (scored := await self._scored.get()) is not None:
            row, task = scored
            body = b"".join(self._query.lines(row, await task))
            more = send({"type": "http.response.body", "body": body, "more_body": True})
            await asyncio.wait_for(more, self._query.service.limits.seconds)  # a client that does not read
        await send({"type": "http.response.body", "body": b""})


def _line(number: int, line: bytes) -> Line:
    try:
        return f"line {number}", line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        return f"line {number}", BadRow(f"not UTF-8 text at byte {error.start + 1}")
