"""Scores on disk, so that no text is scored twice and a run that was stopped goes on.

One SQLite file, which several processes may use at once (WAL). A score is filed under its metric's signature
and the texts it was made from; ids, systems and documents decide no score and are no part of the key. So
nothing in it ever grows stale.
"""

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from gistmeter.core.errors import DataError, UsageError

NAME = "scores.sqlite"
MAGIC = b"SQLite format 3\0"
APPLICATION = 0x67697374  # "gist": what marks the file as ours
MEGABYTES = 2048
ASKED = 500  # keys a query
TABLE = """
CREATE TABLE IF NOT EXISTS scores (
    id INTEGER PRIMARY KEY, signature TEXT NOT NULL, text TEXT NOT NULL,
    head BLOB NOT NULL, spans BLOB NOT NULL, crc INTEGER NOT NULL, UNIQUE (signature, text)
)"""


def default_folder() -> Path:
    """Return where scores are kept unless said otherwise: a folder of the user's cache."""
    from platformdirs import user_cache_path

    return user_cache_path("gistmeter", appauthor=False) / "scores"


@dataclass(frozen=True, slots=True)
class Entry:
    """A score as it is kept.

    Args:
        head: All but its spans.
        spans: These; empty where they were not asked for.
    """

    head: bytes
    spans: bytes


class ScoreCache:
    """A file of scores.

    A file that turns out to be damaged is set aside under another name, and a new one is begun. Where nothing
    more can be written, as on a full disk, scores are no longer kept, and that is said once.

    Args:
        path: A file, or a folder that gets one.
        megabytes: What it may hold; then the oldest scores go.
        note: Is told what a user must know.

    Raises:
        UsageError: If the file is not a cache of gistmeter.
        DataError: If it cannot be opened.

    Attributes:
        damaged: How many scores could not be read and were thrown away.
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
            raise DataError(f"cannot keep scores in {path}: {said}; choose another --cache") from error

    def _open(self) -> None:
        try:
            self._connect()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            self._set_aside(error)

    def _connect(self) -> None:
        self._base = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        if not self._base.execute("PRAGMA application_id").fetchone()[0]:
            self._base.execute(f"PRAGMA application_id = {APPLICATION}")
        self._base.execute(TABLE)

    def _set_aside(self, error: Exception) -> None:
        """Give a damaged file another name and begin anew."""
        self._base.close()
        for number in count(1):
            other = self.path.with_name(f"{self.path.name}.damaged-{number}")
            if not other.exists():
                break
        self.path.replace(other)
        for ending in ("-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        self._note(f"gistmeter: {self.path} is damaged ({error}); set aside as {other.name}, begun anew")
        self._connect()

    def get(self, signature: str, texts: Iterable[str], *, spans: bool = True) -> dict[str, Entry]:
        """Return what is kept of some texts.

        Args:
            signature: The metric's hash.
            texts: Their hashes.
            spans: Whether to read these too, which takes most of the time.
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
        """Keep scores, all of them or, if the process is killed, none.

        Args:
            signature: The metric's hash.
            entries: By the texts' hashes; one that is kept already stays as it is.
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
        """Drop the oldest tenth until what is left fits."""
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
        """Set a damaged file aside, and go on without a file that can no longer be used."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if self._keeps:
                self._note(f"gistmeter: scores are no longer kept in {self.path}: {error}")
            self._keeps = False
        except (sqlite3.DatabaseError, zlib.error) as error:
            self._set_aside(error)

    def is_empty(self) -> bool:
        """Return whether it holds no scores."""
        with suppress(sqlite3.DatabaseError):
            return self._base.execute("SELECT 1 FROM scores LIMIT 1").fetchone() is None
        return False

    def clear(self) -> None:
        """Drop all scores."""
        with self._whole():
            self._base.execute("DELETE FROM scores")

    def remove(self) -> None:
        """Close the file and remove it."""
        self.close()
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def __del__(self) -> None:
        with suppress(AttributeError):  # it could not be opened
            self.close()


def _checksum(signature: str, text: str, head: bytes, packed: bytes) -> int:
    return zlib.crc32(packed, zlib.crc32(head, zlib.crc32(f"{signature} {text}".encode())))


def _check_ours(path: Path) -> None:
    """Refuse a file that is something else: a damaged cache is set aside, a user's file is not."""
    if not path.exists():
        return
    with path.open("rb") as file:
        start = file.read(72)
    if not start or path.name == NAME:
        return
    if start[:16] != MAGIC or int.from_bytes(start[68:72], "big") not in (0, APPLICATION):
        raise UsageError(f"{path} is not a cache of gistmeter; choose another --cache")
