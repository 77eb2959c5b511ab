"""Computes SHA-256 checksums of files and caches them until the file changes."""

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path


def sha256(path: Path, *, fresh: bool = False) -> str:
    """Return the SHA-256 of a file in hexadecimal.

    The checksum is cached in the user's cache folder by path, inode, size, modification time and change time;
    programs cannot reset the change time. If the cache folder is not writable, the checksum is computed on
    every call.

    Args:
        path: A file.
        fresh: Whether to ignore a cached checksum.
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
    """Replace the cache file atomically, so that concurrent processes do not damage it."""
    with suppress(OSError):
        memory.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=memory.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(known, file)
        Path(name).replace(memory)
