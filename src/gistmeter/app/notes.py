"""Show the messages of the logger `gistmeter` on standard error."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gistmeter.app.ends import say

LOG = logging.getLogger("gistmeter")


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self._shown: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message on its own line, without escapes, once; ignore a closed or full standard error."""
        from tqdm import tqdm

        text = self.format(record)
        if text not in self._shown:
            self._shown.add(text)
            with tqdm.external_write_mode(file=sys.stderr):  # clears a progress bar, then draws it again
                say(text)


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
