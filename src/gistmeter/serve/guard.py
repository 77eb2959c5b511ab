"""What stands before every address: the token, the origin, security headers, and the count of requests."""

import hmac
import ipaddress
import time
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gistmeter.core.errors import UsageError
from gistmeter.serve.counters import Counters
from gistmeter.serve.problems import Problem

PROTECTED = ("/v1/", "/view", "/metrics")
"""What needs the token, if there is one. The page, its assets and the documentation hold no data."""
CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
LAST_PORT = 65_535
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Where the service listens, and who may use it.

    Args:
        host: The address.
        port: The port; 0 for any that is free.
        token: What clients send as `Authorization: Bearer TOKEN`; None for no token.

    Raises:
        UsageError: If the port does not exist, or other machines could use the service without a token.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None

    def __post_init__(self) -> None:
        if self.port > LAST_PORT:
            raise UsageError(f"--port {self.port}: ports end at {LAST_PORT}")
        if self.token is None and not _is_loopback(self.host):
            raise UsageError(f"--host {self.host} lets other machines in; give --token-file FILE as well")

    def allows(self, authorization: str) -> bool:
        """Return whether a request has the token; takes as long for a wrong one as for the right one."""
        if self.token is None:
            return True
        scheme, _, given = authorization.partition(" ")
        same = hmac.compare_digest(given.strip().encode(), self.token.encode())
        return same and scheme.lower() == "bearer"

    def knows(self, host: str) -> bool:
        """Return whether a Host header names this service.

        Without a token, only names of this machine are known: a page of another site may point a name of its
        own at 127.0.0.1 (DNS rebinding), and would be of one origin with the service.
        """
        return self.token is not None or _is_loopback(_name(host)) or _name(host) == self.host


class Guard:
    """Refuses requests that may not be answered, adds headers to the others, and counts all.

    Args:
        app: Answers the requests.
        access: Who may use it.
        counters: Where requests are counted.
        paths: The paths that exist; other paths are counted as one.
    """

    def __init__(self, app: ASGIApp, *, access: Access, counters: Counters, paths: tuple[str, ...]) -> None:
        self._app = app
        self._access = access
        self._counters = counters
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 0

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            problem = self._refusal(scope["path"], Headers(scope=scope))
            await (problem.response() if problem else self._app)(scope, receive, guarded)
        finally:
            path = scope["path"] if scope["path"] in self._paths else "other"
            self._counters.request(path, status, time.perf_counter() - start)

    def _refusal(self, path: str, headers: Headers) -> Problem | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._access.knows(host):
            return Problem(
                "forbidden", f"the host {host[:80]!r} is not this service; use {self._access.host}"
            )
        if not path.startswith(PROTECTED):
            return None
        foreign = origin is not None and origin.partition("://")[2] != host
        if foreign or headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return Problem("forbidden", "requests of other sites are refused; open the page of the service")
        if not self._access.allows(headers.get("authorization", "")):
            said = "send the header Authorization: Bearer TOKEN, with the token of the service"
            return Problem("unauthorized", said, {"WWW-Authenticate": "Bearer"})
        return None


def _name(host: str) -> str:
    """Return the name in a Host header, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
