"""Read request bodies, within the limits of size and time."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable
from itertools import islice
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive

from gistmeter.core.errors import BadRow, DataError
from gistmeter.core.row import Row
from gistmeter.io.rows import row_at, rows_of
from gistmeter.serve.limits import Limits
from gistmeter.serve.problems import Problem

JSON, NDJSON = "application/json", "application/x-ndjson"
FILES = {NDJSON: "jsonl", "application/jsonl": "jsonl", "text/csv": "csv", "text/tab-separated-values": "tsv"}
"""The format of an uploaded file, by its media type."""
Result = TypeVar("Result")


def media_type(request: Request) -> str:
    """Return the media type of a body, without parameters.

    Raises:
        Problem: If the body is compressed.
    """
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Problem("unsupported-type", "compressed bodies are not supported; send the body as it is")
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def check_length(request: Request, limits: Limits) -> None:
    """Check the length that a request announces.

    Raises:
        Problem: If it is over the limit.
    """
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limits.body:
        raise too_large(limits)


def too_large(limits: Limits) -> Problem:
    """Return the error for a body over the limit."""
    return Problem("too-large", f"the body has over {limits.body_mb} MB; send the rows in several requests")


async def chunks(receive: Receive, limits: Limits) -> AsyncIterator[bytes]:
    """Yield the pieces of a body as they arrive.

    Raises:
        Problem: If the body is too large, or pauses for too long.
        ClientDisconnect: If the client goes away.
    """
    size, more = 0, True
    while more:
        try:
            message = await asyncio.wait_for(receive(), limits.seconds)
        except TimeoutError:
            raise Problem("too-slow", f"no data arrived for {limits.seconds:g} s; send it again") from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        more = message.get("more_body", False)
        piece = message.get("body", b"")
        yield piece[: limits.body - size]
        size += len(piece)
        if size > limits.body:
            raise too_large(limits)


async def read_text(request: Request, limits: Limits) -> str:
    """Return a whole body.

    Raises:
        Problem: If it is too large, too slow, or not UTF-8.
        ClientDisconnect: If the client goes away.
    """
    check_length(request, limits)
    try:
        async with asyncio.timeout(limits.seconds):
            body = b"".join([piece async for piece in chunks(request.receive, limits)])
    except TimeoutError:
        raise Problem("too-slow", f"the body took over {limits.seconds:g} s; send it again") from None
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem("bad-request", f"the body is not UTF-8 text (byte {error.start})") from None


def json_rows(text: str, limits: Limits) -> list[Row]:
    """Return the rows of a JSON body: one object, or a list of objects.

    Raises:
        Problem: If the text is neither, or there are too many.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        said = (
            f": {error.msg} at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        )
        raise Problem("bad-request", f"the body is not valid JSON{said}") from None
    records = found if isinstance(found, list) else [found]
    if not records:
        raise Problem("bad-request", "the list of rows is empty")
    _check_count(len(records), limits)  # before any row is built
    return [
        row_at((f"row {number}", record if isinstance(record, dict) else _no_object()), number, {})
        for number, record in enumerate(records, 1)
    ]


def file_rows(text: str, kind: str, limits: Limits) -> list[Row]:
    """Return the rows of a file.

    Args:
        text: The content.
        kind: jsonl, csv or tsv.
        limits: Of the service.

    Raises:
        Problem: If it has no rows or too many, or lacks a required column.
    """
    try:
        lines = io.StringIO(text, newline="")  # other characters than line ends may stand in a text
        rows = list(islice(rows_of("the file", kind, lines), limits.rows + 1))
    except DataError as error:
        # The hint is for the command line.
        raise Problem("unusable-rows", str(error).partition("; name it with --fields")[0]) from None
    if not rows:
        raise Problem("unusable-rows", "the file has no rows")
    _check_count(len(rows), limits)
    return rows


def check_rows(rows: list[Row]) -> None:
    """Check that one of the rows can be used.

    Raises:
        Problem: If none can.
    """
    if all(row.problem is not None for row in rows):
        raise Problem("unusable-rows", str(rows[0].problem))


def _check_count(count: int, limits: Limits) -> None:
    if count > limits.rows:
        raise Problem(
            "too-large", f"there are too many rows, the limit is {limits.rows:,}: send them as {NDJSON}"
        )


async def while_connected(receive: Receive, work: Awaitable[Result]) -> Result:
    """Return the result of work; cancel the work if the client goes away.

    Raises:
        ClientDisconnect: If it does.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        task.cancel()
        gone.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _no_object() -> BadRow:
    return BadRow("not a JSON object")
