"""Progress bars that count rows."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn

    from tqdm import tqdm

DELAY = 2.0
"""Seconds before a bar appears; a shorter run shows none."""


def rows_bar(total: int | None, *, label: str, shown: bool) -> "tqdm[NoReturn]":
    """Return a progress bar that counts rows, on standard error or in a notebook.

    Args:
        total: The number of rows; None if unknown.
        label: The text in front of the bar.
        shown: Whether to show the bar.
    """
    from tqdm.auto import tqdm

    pause = 0.1 if sys.stderr.isatty() else 10  # few lines in a log file
    return tqdm(
        total=total, desc=label, unit="row", delay=DELAY, mininterval=pause, disable=not shown, leave=False
    )
