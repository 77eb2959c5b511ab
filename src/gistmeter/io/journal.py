"""Journal the rows of a run next to its output, so that an interrupted run can resume.

    OUT.part        the rows written so far: JSON lines, compressed if OUT ends with .gz
    OUT.part.log    a header line that identifies the run, then one line per chunk: its number of rows, a
                    hash of the input rows, the end offset in OUT.part, and a checksum

A chunk is valid once its line is in the log. Anything after the last valid chunk, such as a partial row, is
truncated before the run resumes.
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
"""Interval of syncs, the work lost in a power failure; a killed process loses only the current chunk."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk in the journal.

    Args:
        rows: The number of input rows.
        digest: The hash of these input rows.
        size: The end offset of the chunk in the file of rows, in bytes.
        crc: The checksum of the chunk's bytes.
    """

    rows: int
    digest: str
    size: int
    crc: int


class Journal:
    """The journal of a run.

    Args:
        output: The file that the rows are written to when the run is complete.

    Attributes:
        is_begun: Whether an earlier run began and is not complete; it may have no chunk yet.
    """

    def __init__(self, output: files.AnyPath) -> None:
        target = os.path.realpath(output)
        self.part, self.log = Path(f"{target}.part"), Path(f"{target}.part.log")
        self.chunks: list[Chunk] = []
        self._head: Mapping[str, object] | None = None
        self._end = 0  # end offset of the valid part of the log
        self._synced = time.monotonic()
        self._open: list[RawIOBase] = []
        self._target = target
        self.is_begun = self.part.exists()
        self._read()

    @property
    def rows(self) -> int:
        """The number of input rows in the journal."""
        return sum(chunk.rows for chunk in self.chunks)

    def _read(self) -> None:
        try:
            lines = self.log.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            lines = []
        except OSError as error:
            raise DataError(f"cannot read {self.log}: {files.reason(error)}") from None
        if not files.is_filled(self.part):
            return  # a new run, or one that was killed before its first chunk
        head = _parsed(lines[0]) if lines else None
        if head is None or "journal" not in head:
            raise UsageError(f"{self.part} was not written by gistmeter; move it, or choose another output")
        self._head, self._end = head, len(lines[0])
        self._read_chunks(lines[1:])

    def _read_chunks(self, lines: list[bytes]) -> None:
        """Read the log up to the first chunk that is incomplete or damaged."""
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
        """Discard the existing chunks; `begin` then overwrites them."""
        self.chunks.clear()

    def begin(self, head: Mapping[str, object]) -> None:
        """Create the journal, or resume it.

        Args:
            head: The settings that determine the rows: the metrics' labels and signatures, and the spans.

        Raises:
            UsageError: If the journal belongs to a run with other settings.
        """
        head = {"journal": VERSION, **head}
        if self.chunks and self._head != head:
            raise UsageError(
                f"{self.part} belongs to another run: {_difference(self._head or {}, head)}; "
                "use the same settings, or start again with --overwrite"
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
        """Truncate the files after the last valid chunk."""
        for file, size in ((self._part, self.chunks[-1].size), (self._log, self._end)):
            file.truncate(size)
            file.seek(size)

    def read(self) -> Iterator[tuple[Chunk, bytes]]:
        """Yield each chunk of the earlier run, with its bytes."""
        start = 0
        with self.part.open("rb") as file:
            for chunk in tuple(self.chunks):
                yield chunk, file.read(chunk.size - start)
                start = chunk.size

    def append(self, rows: int, digest: str, data: bytes) -> None:
        """Append a chunk.

        Args:
            rows: The number of input rows.
            digest: The hash of these input rows.
            data: The output rows as bytes.

        Raises:
            GistmeterError: If the chunk cannot be written, for example on a full disk; earlier chunks stay.
        """
        size = (self.chunks[-1].size if self.chunks else 0) + len(data)
        chunk = Chunk(rows, digest, size, zlib.crc32(data))
        with files.failing_as(self.part, f"; {self.rows} rows are saved, continue with --resume"):
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
        """Rename the file of rows to the output."""
        with files.failing_as(output, f"; its {self.rows} rows are in {self.part}"):
            self._sync()
            self._close_files()
            files.rename(self.part, os.path.realpath(output))
        self.log.unlink(missing_ok=True)

    def close(self, *, stopped: bool = False) -> None:
        """Close the files; delete a journal without rows.

        Args:
            stopped: Whether the run may be resumed; if it is to replace an output, its journal then stays.
        """
        self._close_files()
        if self._open and not self.chunks and not (stopped and files.is_filled(self._target)):
            self.remove()

    def remove(self) -> None:
        """Close and delete the journal."""
        self._close_files()
        self.part.unlink(missing_ok=True)
        self.log.unlink(missing_ok=True)

    def _close_files(self) -> None:
        for file in self._open:
            file.close()


def _chunk(line: bytes) -> Chunk | None:
    try:
        return Chunk(**(_parsed(line) or {}))
    except TypeError:
        return None


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return a parsed line of the log; None if it is incomplete."""
    try:
        found = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _difference(one: Mapping[str, object], other: Mapping[str, object]) -> str:
    """Describe the first setting that differs."""
    name = next(name for name in [*one, *other] if one.get(name) != other.get(name))
    return f"{name} {json.dumps(one.get(name))}, now {json.dumps(other.get(name))}"
