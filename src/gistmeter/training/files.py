"""Atomic writes for the files of a training run."""

import os
from contextlib import suppress
from pathlib import Path

CHECKPOINT = "checkpoint.pt"
HISTORY = "history.json"


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically; see `write_bytes`."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically: a kill or power loss leaves the previous file or the complete new one.

    Raises:
        OSError: If the disk is full or the folder is not writable; no partial file remains.
    """
    beside = path.with_name(path.name + ".tmp")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise
