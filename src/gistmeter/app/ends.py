"""End a command with one line on standard error and an exit code, for any error or signal."""

import errno
import io
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
"""Error codes of a failed write. An error without a file name is about a standard stream."""


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM; handled like Ctrl-C."""


def prepare() -> bool:
    """Configure the standard streams to write any text; return whether there is a standard output."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    if sys.stdout is None:
        say("gistmeter: standard output is closed; redirect it to a file or to /dev/null")
        return False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a test or a notebook may replace the stream
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")
    return True


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """Convert SIGTERM to an exception while the block runs."""
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
    """Print the reason why a command ended, and return its exit code."""
    if isinstance(error, KeyboardInterrupt):
        terminated = isinstance(error, Terminated)
        say(f"gistmeter: {'terminated' if terminated else 'interrupted'}")
        return TERMINATED if terminated else INTERRUPTED
    if isinstance(error, BrokenPipeError):
        _let_go()  # the reader closed the pipe, as `head` does
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
    """Redirect an unwritable standard output to the null device, to avoid an error at exit.

    Returns:
        Whether it was redirected.
    """
    if only_if_full:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            return False
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True


def say(text: str) -> None:
    """Print one line on standard error, without escape sequences; ignore a closed or full stream."""
    with suppress(OSError):
        sys.stderr.write(plain(text) + "\n")
        sys.stderr.flush()
