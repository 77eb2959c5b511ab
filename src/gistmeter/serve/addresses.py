"""The table of addresses, from which the routes, the OpenAPI document and the documentation page are made."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gistmeter.serve.bodies import JSON, NDJSON
from gistmeter.serve.check import check
from gistmeter.serve.counters import MEDIA_TYPE as PROMETHEUS
from gistmeter.serve.problems import KINDS
from gistmeter.serve.schemas import SCHEMAS, TEXT, Schema, ref, some
from gistmeter.serve.score import score
from gistmeter.serve.status import healthz, metrics, prometheus, readyz

ROWS: Schema = {"oneOf": [ref("Row"), some(ref("Row"))]}
PLAIN = "text/plain"
READING = ("unauthorized", "forbidden")
WORKING = tuple(kind.name for kind in KINDS if kind.name not in ("not-found", "method-not-allowed", "failed"))
ROW = '{"source": "The pool closes in May.", "candidate": "The pool closes in June."}'


@dataclass(frozen=True, slots=True)
class Address:
    """One operation.

    Args:
        method: GET or POST.
        path: The path.
        endpoint: What answers.
        summary: One line.
        notes: Further sentences.
        query: The parameters, with their schemas.
        body: The schema of the body by media type; empty if there is none.
        answer: The schema of the answer by media type.
        problems: The names of the errors that are likely.
        example: The arguments of curl.
    """

    method: str
    path: str
    endpoint: Callable[[Request], Awaitable[Response]]
    summary: str
    notes: str = ""
    query: dict[str, Schema] = field(default_factory=dict)
    body: dict[str, Schema] = field(default_factory=dict)
    answer: dict[str, Schema] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    example: tuple[str, ...] = ()


ADDRESSES = (
    Address(
        "POST",
        "/v1/score",
        score,
        "Score one row or many rows.",
        "The answer has one score per row and metric, in the order of the rows. A row that cannot be scored "
        "has a problem instead of a value. The body is a JSON object, a list of objects, or a stream of "
        "NDJSON (one object per line), which is answered with a stream of NDJSON while it arrives.",
        query={
            "metric": some(TEXT) | {"description": "A metric; repeatable. By default, all."},
            "spans": TEXT | {"description": "all (default), none, or worst=N"},
        },
        body={JSON: ROWS, NDJSON: ref("Row")},
        answer={JSON: ref("Scores"), NDJSON: ref("Score")},
        problems=WORKING,
        example=(f"-H 'Content-Type: {JSON}'", f"-d '{ROW}'"),
    ),
    Address(
        "POST",
        "/v1/check",
        check,
        "Check which sentences the source supports.",
        "Answers as gistmeter check: for each sentence its support by the source, from 0 to 1, the "
        "closest sentence of the source, and the fact that is most in doubt. Needs the metric check.",
        body={JSON: ROWS},
        answer={JSON: ref("Checks")},
        problems=(*WORKING, "not-found"),
        example=(f"-H 'Content-Type: {JSON}'", f"-d '{ROW}'"),
    ),
    Address(
        "GET",
        "/v1/metrics",
        metrics,
        "List the metrics that are served, and the limits.",
        answer={JSON: ref("Metrics")},
        problems=READING,
    ),
    Address("GET", "/healthz", healthz, "Tell whether the process lives.", answer={PLAIN: TEXT}),
    Address(
        "GET",
        "/readyz",
        readyz,
        "Tell whether all metrics are loaded.",
        answer={PLAIN: TEXT},
        problems=("not-ready",),
    ),
    Address(
        "GET",
        "/metrics",
        prometheus,
        "Return counts in Prometheus' text format.",
        answer={PROMETHEUS: TEXT},
        problems=READING,
    ),
)


def openapi(version: str, *, token: bool) -> dict[str, Any]:
    """Return the OpenAPI document.

    Args:
        version: Of gistmeter.
        token: Whether clients need a token.
    """
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "gistmeter",
            "version": version,
            "summary": "Scores summaries and simplifications.",
        },
        "paths": {address.path: {address.method.lower(): _operation(address)} for address in ADDRESSES},
        "components": {"schemas": SCHEMAS},
    }
    if token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _operation(address: Address) -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": address.summary,
        "description": address.notes,
        "parameters": [
            {"name": name, "in": "query", "schema": schema} for name, schema in address.query.items()
        ],
        "responses": {"200": {"description": "OK", "content": _content(address.answer)}},
    }
    if address.body:
        found["requestBody"] = {"required": True, "content": _content(address.body)}
    for kind in KINDS:
        if kind.name in address.problems:
            content = _content({"application/problem+json": ref("Problem")})
            found["responses"].setdefault(str(kind.status), {"description": kind.title, "content": content})
    return found


def _content(schemas: dict[str, Schema]) -> dict[str, Any]:
    return {media_type: {"schema": schema} for media_type, schema in schemas.items()}
