"""Notes of a run: what is logged to the logger `gistmeter`, shown on standard error."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LOG = logging.getLogger("gistmeter")


@contextmanager
def notes_on_stderr(*, quiet: bool) -> Iterator[None]:
    """Show notes on standard error; if quiet, only warnings."""
    handler = logging.StreamHandler(sys.stderr)
    level = LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.WARNING if quiet else logging.INFO)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(level)
