"""The command `gistmeter serve`."""

import argparse
import logging
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gistmeter.app.specs import runtime_of
from gistmeter.core.errors import DataError, MissingExtra, UsageError

if TYPE_CHECKING:
    from gistmeter.engine.plan import Plan

LOG = logging.getLogger("gistmeter")
METRICS = ("speed:against=source", "cloze", "sumqe")
"""What is served if no metric is named: they need a source, or nothing but the candidate."""
SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of the command.

    Args:
        plan: The metrics, and how they run.
        host: The address to listen on.
        port: The port; 0 for any that is free.
        token_file: The file with the token; None for no token.
        limits: The values of `Limits` by name.
    """

    plan: "Plan"
    host: str
    port: int
    token_file: str | None
    limits: dict[str, float]

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "ServeOptions":
        """Read the command line."""
        from gistmeter.engine.plan import Plan

        plan = Plan(
            tuple(arguments.metrics or METRICS),
            dimension=arguments.dimension,
            preset=arguments.preset,
            model=arguments.model,
            runtime=runtime_of(arguments),
        )
        limits = ("body_mb", "rows", "characters", "waiting", "seconds", "seconds_per_row")
        given = {name: getattr(arguments, f"max_{name}") for name in limits}
        return cls(plan, arguments.host, arguments.port, arguments.token_file, given)


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtra(package, "web")
    from gistmeter.serve.guard import Access
    from gistmeter.serve.limits import Limits
    from gistmeter.serve.run import run as serve

    options = ServeOptions.of(arguments)
    token = read_token(options.token_file) if options.token_file else None
    access = Access(options.host, options.port, token)
    serve(options.plan, access, Limits(**options.limits), _started)  # type: ignore[arg-type]
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
