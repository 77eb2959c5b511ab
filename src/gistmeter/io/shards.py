"""Folders of files, each a shard of the rows: on this machine, or where fsspec reaches (`s3://`, `gs://`).

A shard is copied to this machine, scored, and its output copied back under its name when it is whole, so a
shard whose output exists is finished.
"""

import json
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gistmeter.core.errors import DataError, GistmeterError, MissingExtra, UsageError
from gistmeter.io import files
from gistmeter.io.formats import SUFFIXES

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

HEAD = "_gistmeter.json"
"""Says what run the shards of an output folder are of."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of shards.

    Args:
        url: A path, or a URL such as `s3://bucket/rows`.
    """

    url: str

    def is_same(self, other: "Folder") -> bool:
        """Return whether both are one place, however it is written.

        Raises:
            UsageError: If one cannot be reached.
        """
        return self._place() == other._place()

    def shards(self) -> list[str]:
        """Return the names of the files of rows in it, sorted.

        Raises:
            DataError: If it cannot be read.
        """

        def listed() -> list[str]:
            system, path = self._system()
            if system.isfile(path):
                raise DataError(f"{self.url} is a file; name the folder of shards that it is in")
            return sorted(str(one["name"]).rpartition("/")[2] for one in system.ls(path, detail=True))

        names = _reaching(self.url, listed)
        return [name for name in names if name.lower().endswith(SUFFIXES) and name[0] not in "._"]

    @contextmanager
    def copy(self, name: str) -> Iterator[Path]:
        """Copy a shard into a folder of its own that ends with the context; yield the copy."""
        with tempfile.TemporaryDirectory(prefix="gistmeter-") as folder:
            target = Path(folder, "in", name)
            target.parent.mkdir()
            system, path = self._system()
            _reaching(f"{self.url}/{name}", lambda: system.get_file(f"{path}/{name}", str(target)))
            yield target

    def put(self, name: str, file: Path) -> None:
        """Give a copy of a file that name; it appears when it is whole."""

        def put() -> None:
            from fsspec.implementations.local import LocalFileSystem

            system, path = self._system()
            system.makedirs(path, exist_ok=True)
            if isinstance(system, LocalFileSystem):  # object stores show an object only when it is whole
                system.put_file(str(file), f"{path}/{name}.new")
                files.rename(f"{path}/{name}.new", f"{path}/{name}")
            else:
                system.put_file(str(file), f"{path}/{name}")

        _reaching(f"{self.url}/{name}", put)

    def begin(
        self,
        head: Mapping[str, object],
        *,
        resume: bool,
        overwrite: bool,
        names: Collection[str] | None = None,
    ) -> set[str]:
        """Start a run that writes here, or go on with it; return the names of finished shards.

        Args:
            head: What decides the rows.
            resume: Keep finished shards.
            overwrite: Replace them.
            names: The outputs of this run, the only shards that it may replace; None for any.

        Raises:
            UsageError: If there are shards of an earlier run and nobody says what to do with them, or
                files of rows that this run does not write.
        """
        system, path = _reaching(self.url, self._system)
        found = set(self.shards()) if _reaching(self.url, lambda: system.exists(path)) else set()
        if found and not (resume or overwrite):
            raise UsageError(
                f"{self.url} holds {len(found)} shards; --resume keeps them, --overwrite replaces them"
            )
        if found and resume:
            known = _reaching(self.url, lambda: _head(system, f"{path}/{HEAD}"))
            if known != json.loads(json.dumps(head)):
                raise UsageError(f"{self.url} is of a run with other metrics or options; use --overwrite")
            return found
        if found and not _reaching(self.url, lambda: system.exists(f"{path}/{HEAD}")):
            raise UsageError(f"{self.url} holds files of rows that no run wrote; choose another folder")
        if others := found.difference(found if names is None else names):
            raise UsageError(
                f"{self.url} holds {len(others)} files that this run does not write, such as {min(others)}; "
                "move them, or choose another folder"
            )
        for name in found:
            _reaching(self.url, lambda name=name: system.rm_file(f"{path}/{name}"))  # type: ignore[misc]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, HEAD)
            file.write_text(json.dumps(head), encoding="utf-8")
            self.put(HEAD, file)
        return set()

    def _place(self) -> tuple[str, str]:
        from fsspec.implementations.local import LocalFileSystem

        system, path = self._system()
        local = isinstance(system, LocalFileSystem)
        return type(system).__name__, os.path.realpath(path) if local else path

    def _system(self) -> "tuple[AbstractFileSystem, str]":
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise MissingExtra("fsspec", "ray") from None
        try:
            system, path = url_to_fs(self.url)
        except (ImportError, ValueError) as error:  # says which package to install
            raise UsageError(f"{self.url} cannot be reached: {error}") from None
        return system, str(path).rstrip("/")


def check_outputs(names: Iterable[str]) -> None:
    """Check that no two shards have one output.

    Raises:
        UsageError: If two have.
    """
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(output_name(name), name)
        if other != name:
            raise UsageError(f"{other} and {name} would both become {output_name(name)}; rename one")


def output_name(name: str) -> str:
    """Return what the output of a shard is called: as the shard; there is no tsv output.

    >>> output_name("rows-007.tsv.gz")
    'rows-007.csv.gz'
    """
    packed = ".gz" if name.lower().endswith(".gz") else ""
    stem = name[: len(name) - len(packed)]
    return f"{stem[:-4]}.csv{packed}" if stem.lower().endswith(".tsv") else name


def _head(system: "AbstractFileSystem", path: str) -> object:
    return json.loads(system.cat_file(path)) if system.exists(path) else None


def _reaching(url: str, work: Callable[[], T]) -> T:
    """Turn what storage raises into one line."""
    try:
        return work()
    except GistmeterError:
        raise
    except FileNotFoundError:
        raise DataError(f"{url} does not exist; check the path") from None
    except Exception as error:  # every storage raises errors of its own
        raise DataError(f"cannot use {url}: {files.reason(error)}") from error
