"""Run the service until it is stopped."""

import socket
from collections.abc import Callable, Iterator

import uvicorn

from gistmeter import catalog
from gistmeter.core.errors import UsageError
from gistmeter.core.metric import Metric
from gistmeter.engine.plan import Plan
from gistmeter.serve.app import application
from gistmeter.serve.guard import Access
from gistmeter.serve.limits import Limits
from gistmeter.serve.service import Service

GRACE = 10
"""Seconds that requests have to end when the service is stopped."""


def run(plan: Plan, access: Access, limits: Limits, started: Callable[[str], None]) -> None:
    """Serve until a signal arrives, which is raised again; or until a metric cannot be loaded.

    Args:
        plan: The metrics.
        access: Where to listen.
        limits: What clients may ask for.
        started: Is called with the address when the service listens.

    Raises:
        UsageError: If a metric does not exist, or the address cannot be used.
        ModelError: If a model cannot be found or loaded.
    """
    specs, parsed = plan.specs, catalog.parse_all(plan.specs, dimension=plan.dimension)

    def load() -> Iterator[tuple[str, Metric]]:
        return catalog.load_each(specs, parsed, preset=plan.preset, model=plan.model, runtime=plan.runtime)

    def stop() -> None:
        server.should_exit = True

    service = Service(tuple(parsed), load, limits, on_failure=stop)
    server = server_of(service, access)
    with listening(access) as listener:
        started(_address(access.host, listener.getsockname()[1]))
        server.run(sockets=[listener])
    if service.failure is not None:
        raise service.failure


def server_of(service: Service, access: Access) -> uvicorn.Server:
    """Return the server of a service, which is still to be run."""
    return uvicorn.Server(
        uvicorn.Config(
            application(service, access),
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE,
        )
    )


def listening(access: Access) -> socket.socket:
    """Return a socket that listens.

    Raises:
        UsageError: If the address cannot be used.
    """
    try:
        family = socket.getaddrinfo(access.host, access.port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family[0], socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(family[4])
            listener.listen(2048)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise UsageError(
            f"cannot listen on {access.host}, port {access.port}: {error.strerror}; "
            "choose another --port or --host"
        ) from None
    return listener


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
