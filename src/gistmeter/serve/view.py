"""`POST /view`: score rows for the page; progress and the coloured view arrive as server-sent events."""

import asyncio
import json
from collections.abc import Sequence

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.face import view_of
from gistmeter.report.html.page import body
from gistmeter.report.report import Report
from gistmeter.serve.bodies import (
    FILES,
    JSON,
    check_rows,
    file_rows,
    json_rows,
    media_type,
    read_text,
    while_connected,
)
from gistmeter.serve.problems import Problem
from gistmeter.serve.query import Query
from gistmeter.serve.score import admitted

PAUSE = 0.2
"""Seconds between two events about progress."""


async def view(request: Request) -> Response:
    """Score the rows of a JSON body or of a file: jsonl, csv, tsv."""
    query = Query.of(request)
    limits = query.service.limits
    kind = media_type(request)
    if kind != JSON and kind not in FILES:
        raise Problem("unsupported-type", f"send {JSON}, {', '.join(FILES)}")
    text = await read_text(request, limits)
    if kind == JSON:
        rows = json_rows(text, limits)
    else:
        rows = await asyncio.to_thread(file_rows, text, FILES[kind], limits)
    check_rows(rows)
    query.service.admit(len(rows) * len(query.labels))
    return Events(query, rows)


class Events(Response):
    """Sends `progress` events, then one event `view` with the HTML, or `problem`."""

    media_type = "text/event-stream"

    def __init__(self, query: Query, rows: list[Row]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._query = query
        self._rows = rows
        self._done = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        try:
            await while_connected(receive, self._events(send))
        except ClientDisconnect:
            return
        except Problem as problem:
            await _send(send, "problem", problem.document())
        await send({"type": "http.response.body", "body": b""})

    async def _events(self, send: Send) -> None:
        query, rows = self._query, self._rows
        async with admitted(query, rows) as ticket:
            work = asyncio.gather(
                *(query.service.scores(ticket, row, query.labels, self._count) for row in rows)
            )
            while not work.done():
                total = len(rows) * len(query.labels)
                await _send(send, "progress", {"done": self._done, "total": total})
                await asyncio.wait({work}, timeout=PAUSE)
            html = await asyncio.to_thread(_html, query, rows, work.result())
        await _send(send, "view", {"html": html})

    def _count(self, score: object) -> None:
        self._done += 1


def _html(query: Query, rows: Sequence[Row], scored: Sequence[Sequence[Score]]) -> str:
    columns = zip(*scored, strict=True)
    found = {
        label: (query.service.signatures[label], column)
        for label, column in zip(query.labels, columns, strict=True)
    }
    report = Report.of(found, [row.example for row in rows], human=[row.scores for row in rows])
    return body(view_of(report), rows=len(rows))


async def _send(send: Send, event: str, data: object) -> None:
    text = f"event: {event}\ndata: {json.dumps(data)}\n\n"
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
