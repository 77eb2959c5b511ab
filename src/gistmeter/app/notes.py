"""Notes of a run: what is logged to the logger `gistmeter`, shown on standard error."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from gistmeter.app.ends import say

LOG = logging.getLogger("gistmeter")


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Print a note without escapes; a closed or full standard error stops nothing."""
        say(self.format(record))


@contextmanager
def notes_on_stderr(*, quiet: bool) -> Iterator[None]:
    """Show notes on standard error; if quiet, only warnings."""
    handler = _Lines()
    level = LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.WARNING if quiet else logging.INFO)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(level)
