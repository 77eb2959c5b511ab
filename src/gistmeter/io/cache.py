"""A cache of scores on disk, so that no text is scored twice and an interrupted run can resume.

The cache is one SQLite file in WAL mode, which several processes can use at once. The key of a score is the
metric's signature and the scored texts. Ids, systems and documents do not affect a score and are not part of
the key, so that entries never become stale.
"""

import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from gistmeter.core.errors import DataError, UsageError

NAME = "scores.sqlite"
MAGIC = b"SQLite format 3\0"
APPLICATION = 0x67697374  # "gist": identifies the file as a cache of gistmeter
MEGABYTES = 2048
ASKED = 500  # keys per query
WAIT = 60.0  # seconds to wait for another process
TABLE = """
CREATE TABLE IF NOT EXISTS scores (
    id INTEGER PRIMARY KEY, signature TEXT NOT NULL, text TEXT NOT NULL,
    head BLOB NOT NULL, spans BLOB NOT NULL, crc INTEGER NOT NULL, UNIQUE (signature, text)
)"""


def default_folder() -> Path:
    """Return the default folder for cached scores, inside the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("gistmeter", appauthor=False) / "scores"


@dataclass(frozen=True, slots=True)
class Entry:
    """A cached score, as JSON.

    Args:
        head: The score without its spans.
        spans: The spans; empty if they were not requested.
    """

    head: bytes
    spans: bytes


class ScoreCache:
    """A cache of scores in one file.

    A damaged file is renamed, and a new one is created. If the file becomes unwritable, for example on a full
    disk, the cache reports it once and stores no further scores.

    Args:
        path: The file, or a folder in which to create it.
        megabytes: The maximum size; when exceeded, the oldest scores are deleted.
        note: A function that receives messages for the user.

    Raises:
        UsageError: If the file is not a cache of gistmeter.
        DataError: If the file cannot be opened.

    Attributes:
        damaged: The number of damaged scores that were found and deleted.
    """

    def __init__(
        self, path: str | Path, *, megabytes: int = MEGABYTES, note: Callable[[str], None] = lambda text: None
    ) -> None:
        given = Path(path)
        self.damaged = 0
        self._limit = megabytes * 1_000_000
        self._note = note
        self._keeps = True
        try:
            self.path = given if given.is_file() or (given.suffix and not given.is_dir()) else given / NAME
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _check_ours(self.path)
            self._open()
        except (OSError, sqlite3.OperationalError) as error:
            said = getattr(error, "strerror", None) or error
            raise DataError(f"cannot store scores in {path}: {said}; choose another --cache") from error

    def _open(self) -> None:
        try:
            self._connect()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if not _is_damage(error):
                raise
            self._set_aside(error)

    def _connect(self) -> None:
        self._base = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
        self._use_wal()
        self._base.execute("PRAGMA synchronous = NORMAL")
        if not self._base.execute("PRAGMA application_id").fetchone()[0]:
            self._base.execute(f"PRAGMA application_id = {APPLICATION}")
        self._base.execute(TABLE)

    def _use_wal(self) -> None:
        """Switch to WAL mode. SQLite itself does not wait here for a process that writes to a new file."""
        started = time.monotonic()
        while True:
            try:
                self._base.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() - started > WAIT:
                    raise
                time.sleep(0.01)

    def _set_aside(self, error: Exception) -> None:
        """Rename a damaged file and create a new one."""
        self._base.close()
        for number in count(1):
            other = self.path.with_name(f"{self.path.name}.damaged-{number}")
            if not other.exists():
                break
        self.path.replace(other)
        for ending in ("-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        self._note(f"gistmeter: {self.path} is damaged ({error}); renamed to {other.name}, started a new one")
        self._connect()

    def get(self, signature: str, texts: Iterable[str], *, spans: bool = True) -> dict[str, Entry]:
        """Return the cached scores of some texts, by the hash of the texts.

        Args:
            signature: The hash of the metric's signature.
            texts: The hashes of the texts.
            spans: Whether to read the spans, which takes most of the time.
        """
        found: dict[str, Entry] = {}
        wanted = list(texts)
        with self._whole():
            for start in range(0, len(wanted), ASKED):
                found |= self._found(signature, wanted[start : start + ASKED], spans=spans)
        return found

    def _found(self, signature: str, texts: Sequence[str], *, spans: bool) -> Iterator[tuple[str, Entry]]:
        marks = ",".join("?" * len(texts))
        query = f"SELECT text, head, spans, crc FROM scores WHERE signature = ? AND text IN ({marks})"
        for text, head, packed, crc in self._base.execute(query, (signature, *texts)).fetchall():
            if crc != _checksum(signature, text, head, packed):
                self.damaged += 1
                self._base.execute("DELETE FROM scores WHERE signature = ? AND text = ?", (signature, text))
            else:
                yield text, Entry(head, zlib.decompress(packed) if spans else b"")

    def put(self, signature: str, entries: Mapping[str, Entry]) -> None:
        """Store scores in one transaction: if the process is killed, either all are stored or none.

        Args:
            signature: The hash of the metric's signature.
            entries: The scores by the hash of their texts; a score that is already stored is not replaced.
        """
        if not self._keeps:
            return
        rows = []
        for text, entry in entries.items():
            packed = zlib.compress(entry.spans)
            rows.append((signature, text, entry.head, packed, _checksum(signature, text, entry.head, packed)))
        with self._whole(), self._transaction():
            self._base.executemany(
                "INSERT OR IGNORE INTO scores (signature, text, head, spans, crc) VALUES (?, ?, ?, ?, ?)",
                rows,
            )
            self._shrink()

    def _shrink(self) -> None:
        """Delete the oldest tenth of the scores, repeatedly, until the size limit holds."""
        while self._bytes() > self._limit:
            oldest = "SELECT id FROM scores ORDER BY id LIMIT (SELECT count(*) / 10 + 1 FROM scores)"
            if not self._base.execute(f"DELETE FROM scores WHERE id IN ({oldest})").rowcount:
                return

    def _bytes(self) -> int:
        pages, free, size = (
            int(self._base.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Replace a damaged file; stop storing scores if the file is unusable."""
        try:
            yield
        except (sqlite3.DatabaseError, UnicodeDecodeError, zlib.error) as error:
            if _is_damage(error):
                self._set_aside(error)
                return
            if self._keeps:
                self._note(f"gistmeter: no further scores are stored in {self.path}: {error}")
            self._keeps = False

    def is_empty(self) -> bool:
        """Return whether the cache has no scores."""
        with suppress(sqlite3.DatabaseError):
            return self._base.execute("SELECT 1 FROM scores LIMIT 1").fetchone() is None
        return False

    def clear(self) -> None:
        """Delete all scores."""
        with self._whole():
            self._base.execute("DELETE FROM scores")

    def remove(self) -> None:
        """Close the file and delete it."""
        self.close()
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def __del__(self) -> None:
        with suppress(AttributeError):  # the file could not be opened
            self.close()


def _checksum(signature: str, text: str, head: bytes, packed: bytes) -> int:
    return zlib.crc32(packed, zlib.crc32(head, zlib.crc32(f"{signature} {text}".encode())))


def _check_ours(path: Path) -> None:
    """Reject a file that is not a cache of gistmeter, so that no other file is ever renamed."""
    if not path.exists():
        return
    with path.open("rb") as file:
        start = file.read(72)
    if not start or path.name == NAME:
        return
    if start[:16] != MAGIC or int.from_bytes(start[68:72], "big") not in (0, APPLICATION):
        raise UsageError(f"{path} is not a cache of gistmeter; choose another --cache")


OUTSIDE = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}
"""Primary error codes of SQLite that concern the disk or other processes, not the content of the file."""


def _is_damage(error: Exception) -> bool:
    """Return whether an error says that the content of the file is damaged.

    Damage in the schema may reach Python as text that is not UTF-8, or as the general error code of SQLite.
    """
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF not in OUTSIDE
