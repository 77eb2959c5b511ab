"""How a command ends: one line on standard error and an exit code, whatever happens to it."""

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from gistmeter.core.errors import DataError, GistmeterError
from gistmeter.report.plain import plain

FAILED, INTERRUPTED, TERMINATED = 1, 130, 143
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a write. Files name themselves in theirs, so one without a name is of a standard stream."""


class Terminated(KeyboardInterrupt):
    """The process was asked to end (SIGTERM); it is dealt with as Ctrl-C is."""


def prepare() -> bool:
    """Make the standard streams fit to write any text; return whether there is a standard output."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    if sys.stdout is None:
        say("gistmeter: standard output is closed; send it to a file, or to /dev/null")
        return False
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a test or a notebook may have put something else there
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")
    return True


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """Turn SIGTERM into an exception for as long as the command runs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def ended(error: BaseException) -> int:
    """Say why a command ended, and return its exit code."""
    if isinstance(error, KeyboardInterrupt):
        terminated = isinstance(error, Terminated)
        say(f"gistmeter: {'terminated' if terminated else 'interrupted'}")
        return TERMINATED if terminated else INTERRUPTED
    if isinstance(error, BrokenPipeError):
        _let_go()  # the reader of the output has gone, as `head` does
        return FAILED
    if isinstance(error, GistmeterError):
        say(f"gistmeter: {error}")
        _let_go(only_if_full=True)
        return error.exit_code
    return _unexpected(error)


def _unexpected(error: BaseException) -> int:
    if isinstance(error, OSError) and error.filename is None and error.errno in NO_ROOM:
        _let_go()
        say(f"gistmeter: cannot write standard output: {error.strerror or error}")
        return FAILED
    if isinstance(error, OSError) and error.filename is not None:
        say(f"gistmeter: cannot use {error.filename}: {error.strerror or error}")
        return DataError.exit_code
    known = isinstance(error, OSError) and error.strerror
    said = known or f"{type(error).__name__}: {error}".splitlines()[0]
    say(f"gistmeter: {said} (run again with --debug to see where)")
    return FAILED


def _let_go(*, only_if_full: bool = False) -> bool:
    """Throw away what standard output does not take, or Python complains at exit; return whether it did."""
    if only_if_full:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            return False
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True


def say(text: str) -> None:
    """Print one line on standard error, without escapes; where that is closed or full, nothing."""
    with suppress(OSError):
        print(plain(text), file=sys.stderr, flush=True)  # noqa: T201
