"""Write files atomically: check, write to a temporary file, sync, rename.

The temporary file is `NAME.part` for the rows of a run and `NAME.new` for other files. At any time, `NAME` is
either the complete old file or the complete new one.
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
    """Return whether a path is a pipe or a device, which is written directly."""
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_output(name: AnyPath, *, inputs: Iterable[AnyPath | None] = ()) -> None:
    """Check that a file can be written, without changing anything.

    Args:
        name: The output file.
        inputs: The files that the same command reads; None and "-" are ignored.

    Raises:
        UsageError: If the output is one of the inputs.
        DataError: If the output is a folder, its folder is missing, or it is not writable.
    """
    exists = _is_file(name)
    for given in inputs:
        if given not in (None, "-") and _same(name, given):
            raise UsageError(f"{name} is an input and would be replaced; choose another output")
    folder = Path(os.path.realpath(name)).parent
    if not folder.is_dir():
        raise DataError(f"cannot write {name}: there is no folder {Path(name).parent}; create it first")
    if exists and not os.access(name, os.W_OK):
        raise DataError(f"cannot write {name}: the file is read-only; choose another output")
    if not is_stream(name) and not os.access(folder, os.W_OK | os.X_OK):
        raise DataError(f"cannot write {name}: the folder {folder} is read-only; choose another output")


def _is_file(name: AnyPath) -> bool:
    """Return whether the path exists; raise DataError if it is a folder."""
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise DataError(f"cannot write {name}: {reason(error)}") from None
    if stat.S_ISDIR(mode):
        raise DataError(f"{name} is a folder; name a file in it")
    return True


def _same(one: AnyPath, other: AnyPath | None) -> bool:
    """Return whether two paths are the same file; the first may not exist yet."""
    with suppress(OSError, ValueError):
        return os.path.samefile(one, str(other))
    return os.path.realpath(one) == os.path.realpath(str(other))


def is_filled(name: AnyPath) -> bool:
    """Return whether the path is a regular file that is not empty."""
    with suppress(OSError, ValueError):
        found = os.stat(name)
        return stat.S_ISREG(found.st_mode) and found.st_size > 0
    return False


def opened(name: AnyPath, mode: str) -> io.RawIOBase:
    """Open a file unbuffered; all output is written through files that this function returns."""
    return io.FileIO(os.fspath(name), mode)


def write_all(file: io.RawIOBase, data: bytes) -> None:
    """Write all of the data, repeating partial writes."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) or 0 :]


def write_whole(name: AnyPath, data: bytes) -> None:
    """Write a file atomically: it appears under its name only when it is complete and synced.

    Raises:
        GistmeterError: If the file cannot be written; a previous file stays unchanged.
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
    """Convert an OSError to a GistmeterError that names the file; let BrokenPipeError through."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise GistmeterError(f"cannot write {name}: {reason(error)}{hint}") from error


def rename(beside: AnyPath, target: AnyPath) -> None:
    """Rename a synced file to its final name, keep the old file's permissions, and sync the folder."""
    if os.path.exists(target):
        shutil.copymode(target, beside)
    os.replace(beside, target)
    sync_folder(Path(target).parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder to disk, if the system supports it."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def locked(name: AnyPath) -> Iterator[None]:
    """Lock an output against other runs; the lock ends with the block or the process.

    There is no lock on systems without `flock`, such as Windows.

    Raises:
        UsageError: If another run is writing the output.
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
    """Open and lock a file; retry if another run deletes it between the two steps."""
    import fcntl

    while True:
        file = io.FileIO(path, "ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise UsageError(f"another run is writing {name}; wait for it or choose another output") from None
        except OSError:
            return file  # a file system without locks
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(file.fileno())):
                return file
        file.close()


def reason(error: Exception) -> str:
    """Return the reason for a file error, in one line."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0]
