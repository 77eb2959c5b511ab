"""Files of a training: written whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path

CHECKPOINT = "checkpoint.pt"
HISTORY = "history.json"


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all; see `write_bytes`."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: a kill or a power cut leaves the old one or the new one.

    Raises:
        OSError: If the disk is full, or the folder cannot be written; no part of the file is left.
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
