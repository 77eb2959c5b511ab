"""Errors of the service as JSON, in the form of RFC 9457 (problem details for HTTP APIs)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of error.

    Args:
        name: Its anchor in the documentation page, which is the `type` of the problem.
        status: The HTTP status.
        title: The same for each error of this kind.
    """

    name: str
    status: int
    title: str


KINDS = (
    Kind("bad-request", 400, "The request cannot be read"),
    Kind("unauthorized", 401, "The request needs a valid bearer token"),
    Kind("forbidden", 403, "The request comes from another site"),
    Kind("not-found", 404, "There is nothing at this address"),
    Kind("method-not-allowed", 405, "This address does not support the method"),
    Kind("too-slow", 408, "The body did not arrive in time"),
    Kind("too-large", 413, "The request is larger than the limit"),
    Kind("unsupported-type", 415, "The content type is not supported"),
    Kind("unusable-rows", 422, "No row can be used"),
    Kind("queue-full", 429, "Too many rows are waiting"),
    Kind("failed", 500, "The service failed"),
    Kind("not-ready", 503, "The service is not ready"),
    Kind("time-limit", 503, "The time limit is exceeded"),
)
"""Every kind of error that the service returns."""
_BY_NAME = {kind.name: kind for kind in KINDS}


class Problem(Exception):
    """An error that ends a request.

    Args:
        name: The name of one of `KINDS`.
        detail: What is wrong with this request, and what to do.
        headers: Further headers of the response.

    >>> Problem("queue-full", "10,000 scores wait; try again", {"Retry-After": "2"}).response().status_code
    429
    """

    def __init__(self, name: str, detail: str, headers: Mapping[str, str] = {}) -> None:
        super().__init__(detail)
        self.kind = _BY_NAME[name]
        self.detail = detail
        self.headers = headers

    def document(self) -> dict[str, object]:
        """Return the members of the JSON object."""
        return {
            "type": f"/docs#{self.kind.name}",
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
        }

    def response(self) -> Response:
        """Return the error as a response."""
        return Response(
            json.dumps(self.document()) + "\n", self.kind.status, dict(self.headers), media_type=MEDIA_TYPE
        )
