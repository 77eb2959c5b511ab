"""The command `gistmeter serve`."""

import logging
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from gistmeter.app.options.serve import ServeOptions
from gistmeter.app.specs import runtime_of
from gistmeter.core.errors import DataError, MissingExtra, UsageError

LOG = logging.getLogger("gistmeter")
SHORTEST_TOKEN = 16


def run(options: ServeOptions) -> int:
    """Serve until interrupted."""
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtra(package, "web")
    from gistmeter.engine.plan import Plan
    from gistmeter.serve.guard import Access
    from gistmeter.serve.limits import Limits
    from gistmeter.serve.run import run as serve

    plan = Plan(
        options.metrics,
        dimension=options.dimension,
        preset=options.preset,
        model=options.model,
        runtime=replace(runtime_of(options), progress=False),
    )
    limits = Limits(
        body_mb=options.max_body_mb,
        rows=options.max_rows,
        characters=options.max_characters,
        waiting=options.max_waiting,
        seconds=options.max_seconds,
        seconds_per_row=options.max_seconds_per_row,
    )
    token = read_token(options.token_file) if options.token_file else None
    serve(plan, Access(options.host, options.port, token), limits, _started)
    return 0


def read_token(path: str) -> str:
    """Return the token in a file.

    Raises:
        DataError: If the file cannot be read.
        UsageError: If the token is short, or is no single word of ASCII.
    """
    try:
        token = Path(path).read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise DataError(f"cannot read {path}: {said}") from None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or len(token.split()) != 1:
        raise UsageError(
            f"{path}: the token must be one word of at least {SHORTEST_TOKEN} ASCII characters; "
            f"make one with: openssl rand -hex 32 > {path}"
        )
    return token


def _started(address: str) -> None:
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    LOG.info("gistmeter: serving; Ctrl-C stops")
