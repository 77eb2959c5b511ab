"""The progress bar of a run, in rows."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn

    from tqdm import tqdm

DELAY = 2.0
"""Seconds before a bar appears; a run that is over sooner shows none."""


def rows_bar(total: int | None, *, label: str, shown: bool) -> "tqdm[NoReturn]":
    """Return a bar on standard error, or in the notebook, that counts rows.

    Args:
        total: How many rows there are; None if that is not known.
        label: What stands before the bar.
        shown: Whether to show it at all.
    """
    from tqdm.auto import tqdm

    pause = 0.1 if sys.stderr.isatty() else 10  # a log file wants few lines
    return tqdm(
        total=total, desc=label, unit="row", delay=DELAY, mininterval=pause, disable=not shown, leave=False
    )
