"""Show the messages of the logger `gistmeter` on standard error."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gistmeter.app.ends import say

LOG = logging.getLogger("gistmeter")


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Print a message on a line of its own, without escapes; ignore a closed or full standard error."""
        from tqdm import tqdm

        with tqdm.external_write_mode(file=sys.stderr):  # clears a progress bar, then draws it again
            say(self.format(record))


@contextmanager
def notes_on_stderr(*, quiet: bool) -> Iterator[None]:
    """Show messages on standard error while the block runs; if quiet, only warnings."""
    handler = _Lines()
    level = LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.WARNING if quiet else logging.INFO)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(level)
