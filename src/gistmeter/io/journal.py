"""A run's rows beside the file that they become, so that a run that was stopped goes on.

    OUT.part        the rows so far: JSON lines, packed where OUT ends with .gz
    OUT.part.log    a line that says what run this is, then one a chunk: its rows, what they were made
                    from, where it ends in OUT.part and its checksum

A chunk counts once its line is in the log. Whatever else a kill leaves, such as half a row, is cut off before
the run goes on.
"""

import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from io import RawIOBase
from pathlib import Path
from typing import Any

from gistmeter.core.errors import DataError, UsageError
from gistmeter.io import files

VERSION = 1
SYNC_SECONDS = 5.0
"""At most this much work is lost when the power fails; a kill loses only the chunk that is being scored."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk in the journal.

    Args:
        rows: How many input rows it holds.
        digest: Of these input rows.
        size: Of the rows written up to its end, in bytes.
        crc: Checksum of its own bytes.
    """

    rows: int
    digest: str
    size: int
    crc: int


class Journal:
    """The rows of a run, beside the output.

    Args:
        output: What they become.
    """

    def __init__(self, output: files.AnyPath) -> None:
        target = os.path.realpath(output)
        self.part, self.log = Path(f"{target}.part"), Path(f"{target}.part.log")
        self.chunks: list[Chunk] = []
        self._head: Mapping[str, object] | None = None
        self._end = 0  # of the part of the log that can be read
        self._synced = time.monotonic()
        self._open: list[RawIOBase] = []
        self._read()

    @property
    def rows(self) -> int:
        """How many input rows are in the journal."""
        return sum(chunk.rows for chunk in self.chunks)

    def _read(self) -> None:
        try:
            lines = self.log.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            lines = []
        except OSError as error:
            raise DataError(f"cannot read {self.log}: {files.said(error)}") from None
        if not files.is_filled(self.part):
            return  # a new run, or one that was killed before or just after it wrote
        head = _parsed(lines[0]) if lines else None
        if head is None or "journal" not in head:
            raise UsageError(f"{self.part} is not of a run of gistmeter; move it, or choose another output")
        self._head, self._end = head, len(lines[0])
        self._read_chunks(lines[1:])

    def _read_chunks(self, lines: list[bytes]) -> None:
        """Read the log as far as it and the bytes that it speaks of are whole."""
        start = 0
        with self.part.open("rb") as file:
            for line in lines:
                chunk = _chunk(line)
                if chunk is None or zlib.crc32(file.read(chunk.size - start)) != chunk.crc:
                    return
                if file.tell() != chunk.size:
                    return
                self.chunks.append(chunk)
                self._end += len(line)
                start = chunk.size

    def start_over(self) -> None:
        """Forget what is there; it is replaced when the journal begins."""
        self.chunks.clear()

    def begin(self, head: Mapping[str, object]) -> None:
        """Start the journal, or go on with it.

        Args:
            head: What decides the rows: metrics and their signatures, what is written of each score.

        Raises:
            UsageError: If the journal is of another run.
        """
        head = {"journal": VERSION, **head}
        if self.chunks and self._head != head:
            raise UsageError(
                f"{self.part} is of another run: {_difference(self._head or {}, head)}; "
                "ask for the same, or start again with --overwrite"
            )
        fresh = not self.chunks
        with files.failing_as(self.part):
            for path in (self.part, self.log):
                self._open.append(files.opened(path, "wb" if fresh else "r+b"))
            self._part, self._log = self._open
            if fresh:
                files.write_all(self._log, json.dumps(head).encode() + b"\n")
            else:
                self._cut()

    def _cut(self) -> None:
        """Cut off what a kill left after the last whole chunk."""
        for file, size in ((self._part, self.chunks[-1].size), (self._log, self._end)):
            file.truncate(size)
            file.seek(size)

    def read(self) -> Iterator[tuple[Chunk, bytes]]:
        """Yield each chunk that was there from the start, with its bytes."""
        start = 0
        with self.part.open("rb") as file:
            for chunk in tuple(self.chunks):
                yield chunk, file.read(chunk.size - start)
                start = chunk.size

    def append(self, rows: int, digest: str, data: bytes) -> None:
        """Add a chunk.

        Args:
            rows: How many input rows it holds.
            digest: Of these.
            data: Its bytes.

        Raises:
            GistmeterError: If the disk is full or fails; the chunks before are safe.
        """
        size = (self.chunks[-1].size if self.chunks else 0) + len(data)
        chunk = Chunk(rows, digest, size, zlib.crc32(data))
        with files.failing_as(self.part, f"; {self.rows} rows are safe, --resume goes on after them"):
            files.write_all(self._part, data)
            files.write_all(self._log, json.dumps(asdict(chunk)).encode() + b"\n")
            self.chunks.append(chunk)
            if time.monotonic() - self._synced > SYNC_SECONDS:
                self._sync()

    def _sync(self) -> None:
        for file in (self._part, self._log):
            os.fsync(file.fileno())
        self._synced = time.monotonic()

    def become(self, output: files.AnyPath) -> None:
        """Give the rows, as they are, the output's name."""
        with files.failing_as(output, f"; its {self.rows} rows are in {self.part}"):
            self._sync()
            self.close()
            files.rename(self.part, os.path.realpath(output))
        self.log.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the files; a journal without rows is removed."""
        for file in self._open:
            file.close()
        if self._open and not self.chunks:
            self.remove()

    def remove(self) -> None:
        """Remove the journal."""
        self.part.unlink(missing_ok=True)
        self.log.unlink(missing_ok=True)


def _chunk(line: bytes) -> Chunk | None:
    try:
        return Chunk(**(_parsed(line) or {}))
    except TypeError:
        return None


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return a line of the log; None if it is not whole."""
    try:
        found = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _difference(one: Mapping[str, object], other: Mapping[str, object]) -> str:
    """Name the first entry that differs."""
    name = next(name for name in [*one, *other] if one.get(name) != other.get(name))
    return f"{name} {json.dumps(one.get(name))}, now {json.dumps(other.get(name))}"
