"""Download human judgements, verify them, and convert them to a file of rows.

    FOLDER/originals/REPOSITORY/FILE           original file
    FOLDER/originals/REPOSITORY/FILE.sha256    pinned hash, if no checksum is published
    FOLDER/NAME.jsonl.gz                       rows for `gistmeter benchmark --data`

An original placed in the folder by hand is used instead of a download.
"""

import gzip
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gistmeter.bench.datasets.dataset import Dataset, Source, Variant, datasets, find
from gistmeter.bench.datasets.loaders import LOADERS
from gistmeter.core.errors import DataError
from gistmeter.core.row import Row

TIMEOUT = 60
"""Timeout of a connection without data, in seconds."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Result of fetching a data set.

    Args:
        path: File of rows.
        rows: Number of rows.
        unknown: (file, SHA-256) of originals without a published checksum, which were not verified.
    """

    path: Path
    rows: int
    unknown: tuple[tuple[Path, str], ...]


def default_folder() -> Path:
    """Return the default data folder, in the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("gistmeter", appauthor=False) / "data"


def rows_file(dataset: Dataset, folder: Path) -> Path:
    """Return the path of a fetched data set's rows."""
    return folder / f"{dataset.name}.jsonl.gz"


def find_fetched(data: str, folder: Path) -> tuple[Path, Variant | None] | None:
    """Return the rows of a fetched data set, by its name; None if no data set has this name.

    Args:
        data: `NAME` or `NAME:VARIANT`, such as `summeval:development`.
        folder: Data folder.

    Raises:
        UsageError: If the data set has no such variant.
        DataError: If the data set is not fetched.
    """
    name, _, variant = data.partition(":")
    if name not in {dataset.name for dataset in datasets()}:
        return None
    dataset = find(name)
    chosen = dataset.variant(variant) if variant else None
    path = rows_file(dataset, folder)
    if not path.is_file():
        raise DataError(f"{name} is not fetched; run: gistmeter data fetch {name}")
    return path, chosen


def fetch(dataset: Dataset, folder: Path, *, say: Callable[[str], None] = lambda text: None) -> Fetched:
    """Download missing originals of a data set, verify all originals, and write them as rows.

    Args:
        dataset: Declared data set.
        folder: Data folder; created if missing.
        say: Called with progress messages.

    Raises:
        DataError: If the data set has no URL, a URL cannot be reached, a checksum or format is wrong,
            or the folder cannot be written.
    """
    if not dataset.loader:
        name = f"{dataset.files[0]}.jsonl"
        raise DataError(f"{dataset.name} cannot be fetched: {dataset.obtain}, in a file named {name}")
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
    """Read the originals as rows; rename unverified originals to FILE.refused if reading fails.

    Otherwise, a network's login or error page saved in place of the data would be kept.

    Raises:
        DataError: If the originals have the wrong format or no rows.
    """
    try:
        rows = list(LOADERS[dataset.loader](*paths))
        if not rows:
            raise DataError(
                f"{', '.join(map(str, paths))}: no rows; delete it and fetch the published file again"
            )
    except DataError:
        for path in unchecked:
            if not _note(path).is_file():
                path.replace(path.with_name(f"{path.name}.refused"))
        raise
    return rows


def _note(path: Path) -> Path:
    """Return the path of the pinned hash of a file without a published checksum."""
    return path.with_name(f"{path.name}.sha256")


def _pin(path: Path, digest: str) -> None:
    """Pin the hash of a file that was read successfully; later reads require the same file."""
    if not _note(path).is_file():
        try:
            _note(path).write_text(f"{digest}  {path.name}\n", encoding="utf-8")
        except OSError as error:
            raise DataError(f"cannot write {_note(path)}: {error.strerror or error}") from None


def _download(source: Source, path: Path) -> None:
    import pooch

    # pooch logs what `say` already reports.
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        pooch.retrieve(
            source.address,
            known_hash=source.sha256 and f"sha256:{source.sha256}",
            fname=path.name,
            path=path.parent,
            downloader=pooch.HTTPDownloader(timeout=TIMEOUT),
        )
    except OSError as error:  # disk errors, and network errors, which are subclasses
        answer = getattr(error, "response", None)
        why = f"status {answer.status_code}" if answer is not None else error.strerror or type(error).__name__
        raise DataError(
            f"cannot fetch {source.address} ({why}); download the file by hand to {path}"
        ) from None
    except ValueError:
        raise DataError(
            f"{source.address} does not have the expected SHA-256 {source.sha256}; "
            f"download the expected file by hand to {path}"
        ) from None


def _checked(source: Source, path: Path) -> str:
    """Return a file's SHA-256 after comparing it with the declared or pinned one, if any."""
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
        raise DataError(f"{path} has changed since it was pinned; to accept the change, delete {note}")
    raise DataError(
        f"{path} is not the expected file (SHA-256 {digest}, not {known}); delete it and fetch again"
    )


def _write(rows: Iterable[Row], path: Path) -> int:
    """Write rows atomically and return their number."""
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
