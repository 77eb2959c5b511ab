"""The ASGI application."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from gistmeter.serve.addresses import ADDRESSES
from gistmeter.serve.guard import Access, Guard
from gistmeter.serve.pages import assets, docs, document, home
from gistmeter.serve.problems import Problem
from gistmeter.serve.service import Service
from gistmeter.serve.view import view

LOG = logging.getLogger("gistmeter")
GONE = 499
"""The status that is counted for a client that went away; nobody receives it."""


def application(service: Service, access: Access) -> Starlette:
    """Return the application of a service.

    Args:
        service: Scores rows; runs as long as the application.
        access: Who may use it.
    """
    routes = [
        Route("/", home),
        Route("/assets/{name}", assets),
        Route("/docs", docs),
        Route("/openapi.json", document),
        Route("/view", view, methods=["POST"]),
        *(Route(each.path, each.endpoint, methods=[each.method]) for each in ADDRESSES),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[
            Middleware(
                Guard, access=access, counters=service.counters, paths=tuple(route.path for route in routes)
            )
        ],
        exception_handlers={
            Problem: _problem,
            HTTPException: _no_route,
            ClientDisconnect: _gone,
            Exception: _failed,
        },
    )
    app.state.service = service
    app.state.access = access
    return app


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response()


async def _no_route(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException) and error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        said = f"{request.method} does not work here; use {allowed}"
        return Problem("method-not-allowed", said, error.headers or {}).response()
    return Problem("not-found", "there is nothing here; see /docs for the addresses").response()


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=GONE)


async def _failed(request: Request, error: Exception) -> Response:
    return Problem("failed", "the service failed on this request; its log says why").response()
