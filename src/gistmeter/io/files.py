"""Files that are the old or the new one at every moment: checked first, written beside, renamed.

A file goes to `NAME.part` (a run's rows) or `NAME.new` (one text), onto the disk, and only then to its name.
"""

import io
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gistmeter.core.errors import DataError, GistmeterError, UsageError

AnyPath = str | os.PathLike[str]


def is_stream(name: AnyPath) -> bool:
    """Return whether a name stands for a pipe or a device, which is written as it comes."""
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_output(name: AnyPath, *, inputs: Iterable[AnyPath | None] = ()) -> None:
    """Check that a file can be written, and touch nothing.

    Args:
        name: The file.
        inputs: What the same command reads; None and "-" are left out.

    Raises:
        UsageError: If it is one of the inputs.
        DataError: If it is a folder, its folder is missing, or it may not be written.
    """
    exists = _is_file(name)
    for given in inputs:
        if given not in (None, "-") and _same(name, given):
            raise UsageError(f"{name} is an input and would be replaced; choose another output")
    folder = Path(os.path.realpath(name)).parent
    if not folder.is_dir():
        raise DataError(f"cannot write {name}: make the folder {Path(name).parent} first")
    if exists and not os.access(name, os.W_OK):
        raise DataError(f"cannot write {name}: it is read-only")
    if not is_stream(name) and not os.access(folder, os.W_OK | os.X_OK):
        raise DataError(f"cannot write {name}: no new file may be made in {folder}")


def _is_file(name: AnyPath) -> bool:
    """Return whether something that is no folder has that name."""
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise DataError(f"cannot write {name}: {said(error)}") from None
    if stat.S_ISDIR(mode):
        raise DataError(f"{name} is a folder; name a file in it")
    return True


def _same(one: AnyPath, other: AnyPath | None) -> bool:
    """Compare two paths, of which the first may not exist yet."""
    with suppress(OSError, ValueError):
        return os.path.samefile(one, str(other))
    return os.path.realpath(one) == os.path.realpath(str(other))


def is_filled(name: AnyPath) -> bool:
    """Return whether a regular file of that name holds anything."""
    with suppress(OSError, ValueError):
        found = os.stat(name)
        return stat.S_ISREG(found.st_mode) and found.st_size > 0
    return False


def opened(name: AnyPath, mode: str) -> io.RawIOBase:
    """Open a file without a buffer; every byte of an output passes through what this returns."""
    return io.FileIO(os.fspath(name), mode)


def write_all(file: io.RawIOBase, data: bytes) -> None:
    """Write all of the data; a nearly full disk takes a part of it at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) or 0 :]


def write_whole(name: AnyPath, data: bytes) -> None:
    """Write a file that appears under its name only when it is whole and on the disk.

    Raises:
        GistmeterError: If it cannot be written; what was there before is still there.
    """
    target = os.path.realpath(name)
    if is_stream(target):
        with failing_as(name), opened(target, "wb") as file:
            write_all(file, data)
        return
    beside = f"{target}.new"
    try:
        with failing_as(name), opened(beside, "wb") as file:
            write_all(file, data)
            os.fsync(file.fileno())
        with failing_as(name):
            rename(beside, target)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


@contextmanager
def failing_as(name: AnyPath, hint: str = "") -> Iterator[None]:
    """Turn an error of the system into one line; a broken pipe is the caller's to handle."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise GistmeterError(f"cannot write {name}: {said(error)}{hint}") from error


def rename(beside: AnyPath, target: AnyPath) -> None:
    """Move a file that is on the disk to its name, and the name onto the disk; permissions stay."""
    if os.path.exists(target):
        shutil.copymode(target, beside)
    os.replace(beside, target)
    sync_folder(Path(target).parent)


def sync_folder(folder: Path) -> None:
    """Put the names in a folder onto the disk, where the system knows how."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def locked(name: AnyPath) -> Iterator[None]:
    """Keep other runs from the same output; the lock ends with the process, however it ends.

    Systems without `flock`, such as Windows, have no lock.

    Raises:
        UsageError: If another run writes it.
    """
    path = f"{os.path.realpath(name)}.lock"
    if sys.platform == "win32" or is_stream(name):
        yield
        return
    with failing_as(path):
        file = _locked(path, name)
    with file:
        try:
            yield
        finally:
            Path(path).unlink(missing_ok=True)


def _locked(path: str, name: AnyPath) -> io.FileIO:
    """Open and lock; the run before may remove the file between the two, so its name is looked at again."""
    import fcntl

    while True:
        file = io.FileIO(path, "ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise UsageError(f"another run writes {name}; wait for it or choose another output") from None
        except OSError:
            return file  # a file system without locks
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(file.fileno())):
                return file
        file.close()


def said(error: Exception) -> str:
    """Return one line that says what went wrong with a file."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0]
