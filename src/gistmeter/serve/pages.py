"""The page, its assets, and the documentation page; all are files or made from tables, none holds data."""

import json
from html import escape
from importlib.resources import files
from string import Template

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from gistmeter.report.html.page import asset as report_asset
from gistmeter.serve.addresses import ADDRESSES, Address, openapi
from gistmeter.serve.guard import Access
from gistmeter.serve.problems import KINDS, Problem
from gistmeter.serve.schemas import SCHEMAS

TYPES = {"css": "text/css", "js": "text/javascript"}
OWN, OF_REPORT = ("page.css", "page.js", "docs.css"), ("report.css", "report.js")


async def home(request: Request) -> Response:
    """Return the page."""
    access: Access = request.app.state.access
    page = Template(_asset("page.html")).substitute(token="" if access.token else "hidden")
    return HTMLResponse(page)


async def assets(request: Request) -> Response:
    """Return a style or a script of the page, or of the report, which draws the results."""
    name = request.path_params["name"]
    if name not in OWN + OF_REPORT:
        raise Problem("not-found", "there is no such file")
    text = _asset(name) if name in OWN else report_asset(name)
    return PlainTextResponse(text, media_type=TYPES[name.rpartition(".")[2]])


async def document(request: Request) -> Response:
    """Return the OpenAPI document."""
    return JSONResponse(_openapi(request))


async def docs(request: Request) -> Response:
    """Return the documentation of the addresses, made from the table that also makes the routes."""
    base = f"http://{request.headers.get('host', '')}"
    token: bool = request.app.state.access.token is not None
    problems = "".join(
        f"<tr id='{kind.name}'><td>{kind.status}</td><td><code>{kind.name}</code></td>"
        f"<td>{kind.title}</td></tr>"
        for kind in KINDS
    )
    schemas = "".join(
        f"<details><summary><code>{name}</code></summary>"
        f"<pre tabindex='0'>{escape(json.dumps(schema, indent=2))}</pre></details>"
        for name, schema in SCHEMAS.items()
    )
    return HTMLResponse(
        Template(_asset("docs.html")).substitute(
            addresses="".join(_section(address, base, token=token) for address in ADDRESSES),
            problems=problems,
            schemas=schemas,
        )
    )


def _openapi(request: Request) -> dict[str, object]:
    from importlib.metadata import version

    return openapi(version("gistmeter"), token=request.app.state.access.token is not None)


def _section(address: Address, base: str, *, token: bool) -> str:
    query = "".join(
        f"<li><code>{name}</code> {escape(schema.get('description', ''))}</li>"
        for name, schema in address.query.items()
    )
    authorization = ["-H 'Authorization: Bearer TOKEN'"] if token else []
    curl = " \\\n  ".join([f"curl {base}{address.path}", *authorization, *address.example])
    accepts = ", ".join(f"<code>{name}</code>" for name in address.body)
    return (
        f"<section><h2><span class='method'>{address.method}</span> <code>{address.path}</code></h2>"
        f"<p>{escape(address.summary)} {escape(address.notes)}</p>"
        + (f"<ul>{query}</ul>" if query else "")
        + (f"<p>Accepts {accepts}.</p>" if accepts else "")
        + f"<pre tabindex='0'>{escape(curl)}</pre></section>"
    )


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text("utf-8")
