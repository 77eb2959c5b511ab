"""`POST /v1/score`: score one row or many rows."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import Response

from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.serve.bodies import (
    JSON,
    NDJSON,
    check_length,
    check_rows,
    json_rows,
    media_type,
    read_text,
    while_connected,
)
from gistmeter.serve.problems import Problem
from gistmeter.serve.query import Query
from gistmeter.serve.stream import Lines


async def score(request: Request) -> Response:
    """Score the rows of a JSON body, or of a stream of NDJSON."""
    query = Query.of(request)
    kind = media_type(request)
    if kind in (NDJSON, "application/jsonl"):
        check_length(request, query.service.limits)
        query.service.admit()
        return Lines(query)
    if kind != JSON:
        raise Problem("unsupported-type", f"send the rows as {JSON} or {NDJSON}")
    rows = json_rows(await read_text(request, query.service.limits), query.service.limits)
    scored = await score_together(request, query, rows)
    lines = [
        line.rstrip() for row, scores in zip(rows, scored, strict=True) for line in query.lines(row, scores)
    ]
    return Response(b'{"scores": [' + b",\n".join(lines) + b"]}\n", media_type=JSON)


async def score_together(request: Request, query: Query, rows: list[Row]) -> list[list[Score]]:
    """Return the scores of rows, in order.

    Raises:
        Problem: If the rows cannot be used, there is no room for them, or the time limit is exceeded.
        ClientDisconnect: If the client goes away.
    """
    check_rows(rows)
    async with admitted(query, rows) as ticket:
        work = asyncio.gather(*(query.service.scores(ticket, row, query.labels) for row in rows))
        return await while_connected(request.receive, work)


@asynccontextmanager
async def admitted(query: Query, rows: Sequence[Row]) -> AsyncIterator[object]:
    """Yield what stands for a request; afterwards, nothing of it waits any more.

    Raises:
        Problem: If there is no room for its rows, or the block exceeds the time limit.
    """
    service = query.service
    service.admit(len(rows) * len(query.labels))
    ticket = object()
    try:
        async with asyncio.timeout(service.limits.seconds):
            yield ticket
    except TimeoutError:
        raise Problem(
            "time-limit",
            f"the rows were not scored within {service.limits.seconds:g} s; send fewer rows, or try later",
        ) from None
    finally:
        service.batcher.drop(ticket)
