"""Human judgements as their authors publish them: fetched once, checked, and kept as a file of rows.

    FOLDER/originals/REPOSITORY/FILE       as published
    FOLDER/originals/REPOSITORY/FILE.sha256    the digest of a file for which no digest was known
    FOLDER/NAME.jsonl.gz                   the rows, for `gistmeter benchmark --data`

A file that was put there by hand is as good as a fetched one.
"""

import gzip
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gistmeter.bench.datasets.dataset import Dataset, Source
from gistmeter.bench.datasets.loaders import LOADERS
from gistmeter.core.errors import DataError
from gistmeter.core.row import Row

TIMEOUT = 60
"""Seconds without a byte before a server counts as out of reach."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of fetching a task.

    Args:
        path: The file of rows.
        rows: How many there are.
        unknown: (file, SHA-256) of originals for which no digest was known: nobody has checked them.
    """

    path: Path
    rows: int
    unknown: tuple[tuple[Path, str], ...]


def default_folder() -> Path:
    """Return where data are kept unless said otherwise: a folder of the user's cache."""
    from platformdirs import user_cache_path

    return user_cache_path("gistmeter", appauthor=False) / "data"


def rows_file(dataset: Dataset, folder: Path) -> Path:
    """Return where the rows of a task are once it was fetched."""
    return folder / f"{dataset.name}.jsonl.gz"


def fetch(dataset: Dataset, folder: Path, *, say: Callable[[str], None] = lambda text: None) -> Fetched:
    """Fetch the originals of a task that are not there yet, check all, and write them as rows.

    Args:
        dataset: A declared task.
        folder: Where data are kept; made if need be.
        say: Told what is being fetched.

    Raises:
        DataError: If the task has no address, an address cannot be reached, a file is not the one that is
            meant or not of the format that is expected, or the folder cannot be written.
    """
    if not dataset.loader:
        name = f"{dataset.files[0]}.jsonl"
        raise DataError(f"{dataset.name} cannot be fetched: {dataset.obtain}, in a file called {name}")
    paths, unknown = [], []
    for source in dataset.sources:
        path = folder / "originals" / source.file
        if not path.is_file():
            say(f"fetching {source.address}")
            _download(source, path)
        digest = _checked(source, path)
        paths.append(path)
        if source.sha256 is None:
            unknown.append((path, digest))
    target = rows_file(dataset, folder)
    count = _write(_parsed(dataset, paths, [path for path, _ in unknown]), target)
    for path, digest in unknown:
        _pin(path, digest)
    return Fetched(target, count, tuple(unknown))


def _parsed(dataset: Dataset, paths: Sequence[Path], unchecked: Sequence[Path]) -> list[Row]:
    """Read the originals as rows; delete those that nobody has checked if they hold none.

    What a login page of a network, or an error page, gives in their place must not stay.

    Raises:
        DataError: If they are not of the format that is expected, or have no row.
    """
    try:
        rows = list(LOADERS[dataset.loader](*paths))
        if not rows:
            raise DataError(
                f"{', '.join(map(str, paths))}: no rows in it; is it the file that was published?"
            )
    except DataError:
        for path in unchecked:
            if not _note(path).is_file():
                path.replace(path.with_name(f"{path.name}.refused"))
        raise
    return rows


def _note(path: Path) -> Path:
    """Return where the digest of a file is noted for which none was known."""
    return path.with_name(f"{path.name}.sha256")


def _pin(path: Path, digest: str) -> None:
    """Note the digest of a file that was read as rows: from now on, only that file will do."""
    if not _note(path).is_file():
        try:
            _note(path).write_text(f"{digest}  {path.name}\n", encoding="utf-8")
        except OSError as error:
            raise DataError(f"cannot write {_note(path)}: {error.strerror or error}") from None


def _download(source: Source, path: Path) -> None:
    import pooch

    # What it logs, we say ourselves.
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        pooch.retrieve(
            source.address,
            known_hash=source.sha256 and f"sha256:{source.sha256}",
            fname=path.name,
            path=path.parent,
            downloader=pooch.HTTPDownloader(timeout=TIMEOUT),
        )
    except OSError as error:  # of the disk, or of the network: the library's errors are of this kind
        answer = getattr(error, "response", None)
        why = f"status {answer.status_code}" if answer is not None else error.strerror or type(error).__name__
        raise DataError(f"cannot fetch {source.address} ({why}); put the file by hand at {path}") from None
    except ValueError:
        raise DataError(
            f"{source.address} gives another file than the one meant, of SHA-256 {source.sha256}; "
            f"put that one by hand at {path}"
        ) from None


def _checked(source: Source, path: Path) -> str:
    """Return a file's SHA-256, once it is as declared, or as it was when rows were first read from it."""
    note = _note(path)
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if source.sha256 is None and not note.is_file():
            return digest
        known = source.sha256 or note.read_text(encoding="utf-8").split()[0]
    except (OSError, IndexError) as error:
        raise DataError(f"cannot check {path}: {error}") from None
    if digest == known:
        return digest
    if source.sha256 is None:
        raise DataError(f"{path} has changed since it came here; if it should have, delete {note}")
    raise DataError(
        f"{path} is not the file meant (SHA-256 {digest}, not {known}); delete it and fetch again"
    )


def _write(rows: Iterable[Row], path: Path) -> int:
    """Write rows, all or none, and return how many there are."""
    lines = [json.dumps(_record(row), ensure_ascii=False) for row in rows]
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))
        part.replace(path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror or error}") from None
    return len(lines)


def _record(row: Row) -> dict[str, object]:
    example = row.example
    return {
        "id": example.id,
        "doc_id": example.doc_id,
        "source": example.source,
        "candidate": example.candidate,
        "references": list(example.references),
        "system": example.system,
        "scores": dict(row.scores),
    }
