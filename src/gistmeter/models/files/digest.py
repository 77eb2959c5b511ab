"""SHA-256 of large files, computed once a file and remembered until the file changes."""

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path


def sha256(path: Path, *, fresh: bool = False) -> str:
    """Return the SHA-256 of a file in hexadecimal.

    The digest is remembered in the user's cache folder under the file's path, inode, size, time of
    modification and time of change, which no program can set back; where that folder cannot be written, it is
    computed every time.

    Args:
        path: A file.
        fresh: Compute it even if it is remembered.
    """
    stat = path.stat()
    key = f"{path.resolve()}|{stat.st_ino}|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ctime_ns}"
    memory = user_cache_path("gistmeter") / "sha256.json"
    known = _read(memory)
    if fresh or key not in known:
        with path.open("rb") as file:
            known[key] = hashlib.file_digest(file, "sha256").hexdigest()
        _write(memory, known)
    return known[key]


def _read(memory: Path) -> dict[str, str]:
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write(memory: Path, known: dict[str, str]) -> None:
    """Replace the memory in one step, so that two processes never leave half a file."""
    with suppress(OSError):
        memory.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=memory.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(known, file)
        Path(name).replace(memory)
