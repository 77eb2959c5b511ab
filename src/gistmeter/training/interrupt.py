"""Delay Ctrl-C until the end of a training step, so that the saved state is consistent."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def delayed_interrupt() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C sets; a second Ctrl-C interrupts immediately.

    The event is never set outside the main thread, where Python does not deliver signals, or where interrupts
    are already ignored, as in a shell's background jobs.
    """
    asked = threading.Event()
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is not signal.default_int_handler:
        yield asked
        return

    def ask(_signal: int, _frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGINT, usual)
        sys.stderr.write("\nstopping after this step; press Ctrl-C again to stop immediately\n")

    signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, usual)
