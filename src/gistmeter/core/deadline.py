"""Time limits for a block of code, checked between batches of a model."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gistmeter.core.errors import GistmeterError

_END: ContextVar[float | None] = ContextVar("deadline", default=None)


class OverTime(GistmeterError):
    """The time limit of the enclosing `deadline` is exceeded."""


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Limit the time of a block: model code in it raises `OverTime` after that many seconds.

    The limit is checked between batches. It does not interrupt a running batch, or code without a model.

    Args:
        seconds: The limit; None for no limit.
    """
    token = _END.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _END.reset(token)


def check_deadline() -> None:
    """Check the time limit that the caller set with `deadline`.

    Raises:
        OverTime: If the limit is exceeded.
    """
    end = _END.get()
    if end is not None and time.monotonic() > end:
        raise OverTime("out of time")
