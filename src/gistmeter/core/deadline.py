"""How long a piece of work may take: set around it, and checked between batches of a model."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gistmeter.core.errors import GistmeterError

_END: ContextVar[float | None] = ContextVar("deadline", default=None)


class OverTime(GistmeterError):
    """Work that took longer than it may."""


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Let the work inside raise `OverTime` once it has taken so many seconds; None for no limit.

    A batch that runs already is not interrupted, nor is work without a model.
    """
    token = _END.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _END.reset(token)


def check_deadline() -> None:
    """Raise `OverTime` if the time is over that the caller has set.

    Raises:
        OverTime: If it is.
    """
    end = _END.get()
    if end is not None and time.monotonic() > end:
        raise OverTime("out of time")
