"""Ctrl-C that waits for the end of a step, so that what is saved is a whole one."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def delayed_interrupt() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C sets; a second one interrupts at once, as usual.

    Outside the main thread, where Python lets nobody handle signals, the event is never set. Nor is it where
    interrupts are ignored already, as by a shell that runs a command in the background.
    """
    asked = threading.Event()
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is not signal.default_int_handler:
        yield asked
        return

    def ask(_signal: int, _frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGINT, usual)
        sys.stderr.write("\nstopping after this step; press Ctrl-C again to stop at once\n")

    signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, usual)
