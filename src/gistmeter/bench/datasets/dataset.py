"""Declarations of data sets with human judgements, read from the TOML files in `declared`.

A declaration gives the origin of the data, the loader, the human dimensions and their scales. A file of rows
belongs to the data set whose `files` match its name; any other file is a data set of its own.

Data sets are never pooled, because their judgements differ in level. On FRANK, mean factuality is .08 on XSum
and .78 on CNN/DailyMail: a metric with zero correlation on each half reaches .56 on both halves pooled.
"""

import math
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from gistmeter.core.errors import UsageError
from gistmeter.core.levels import LEVELS, Level, level_name
from gistmeter.core.row import Row

UNKNOWN = "not known: your own file"


@dataclass(frozen=True, slots=True)
class Dimension:
    """A human dimension.

    Args:
        name: Name in the rows' `scores`.
        low: Minimum judgement; -inf if unbounded.
        high: Maximum judgement; inf if unbounded.
        orientation: 1 if higher is better, -1 if lower is better.
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    orientation: Literal[1, -1] = 1


@dataclass(frozen=True, slots=True)
class Source:
    """An original file as its authors publish it.

    Args:
        address: URL.
        file: Local path below the folder of originals, as FOLDER/NAME.
        revision: Pinned commit; "" if the URL is not versioned.
        sha256: Digest of the file; None if no checksum is published.
    """

    address: str
    file: str
    revision: str = ""
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """A subset of a data set that papers report separately.

    Args:
        name: Name.
        title: Description.
        references: Number of references to keep per row, starting with the first; None keeps all.
        systems: Systems to keep; empty keeps all.
        documents: Documents to keep, by `doc_id`; empty keeps all.
    """

    name: str
    title: str
    references: int | None = None
    systems: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    def select(self, rows: Iterable[Row]) -> list[Row]:
        """Return the variant's rows."""
        documents, systems = frozenset(self.documents), self.systems
        return [
            _with_references(row, self.references)
            for row in rows
            if (not systems or row.example.system in systems)
            and (not documents or row.example.doc_id in documents)
        ]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set of human judgements.

    Args:
        name: Name.
        title: Description.
        files: Names of its row files, up to the first dot.
        dimensions: Human dimensions; empty if only the rows define them.
        levels: Levels at which correlations make sense; only pooled without documents or systems.
        group: Name of a group of related data sets, which are still not pooled; "" if none.
        licence: Licence of the data.
        citation: Paper to cite.
        superseded_by: Data set to use instead; "" if none.
        loader: Name of the loader in `bench.datasets.loaders`; "" if the data cannot be downloaded.
        sources: Original files, in the loader's argument order.
        obtain: How to get the data if they cannot be downloaded.
        note: Remark for users of the results.
        variants: Subsets that papers report separately.
        language: Of the rows that name none, a BCP 47 tag; None if the rows are in several.
    """

    name: str
    title: str
    files: tuple[str, ...]
    dimensions: tuple[Dimension, ...] = ()
    levels: tuple[Level, ...] = LEVELS
    group: str = ""
    licence: str = UNKNOWN
    citation: str = UNKNOWN
    superseded_by: str = ""
    loader: str = ""
    sources: tuple[Source, ...] = ()
    obtain: str = ""
    note: str = ""
    variants: tuple[Variant, ...] = ()
    language: str | None = None

    def dimension(self, name: str) -> Dimension:
        """Return a dimension; an undeclared one is unbounded, and higher is better."""
        return next((known for known in self.dimensions if known.name == name), Dimension(name))

    def variant(self, name: str) -> Variant:
        """Return the variant of that name.

        Raises:
            UsageError: If there is no such variant.
        """
        for variant in self.variants:
            if variant.name == name:
                return variant
        there = ", ".join(variant.name for variant in self.variants) or "none"
        raise UsageError(f"{self.name} has no variant {name!r}; choose from: {there}")


@cache
def datasets() -> tuple[Dataset, ...]:
    """Return all declared data sets."""
    folder = files("gistmeter.bench.datasets") / "declared"
    found = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            tables = tomllib.loads(file.read_text(encoding="utf-8"))
            shared = tables.pop("shared", {})
            found += [_dataset(name, table, shared) for name, table in tables.items()]
    return tuple(found)


def find(name: str) -> Dataset:
    """Return the declared data set of that name.

    Raises:
        UsageError: If there is no such data set, or the name is that of a group.

    >>> [dimension.name for dimension in find("summeval").dimensions]
    ['coherence', 'consistency', 'fluency', 'relevance']
    """
    for dataset in datasets():
        if dataset.name == name:
            return dataset
    members = [dataset for dataset in datasets() if dataset.group == name]
    if members:
        check_not_pooled(members)
    known = ", ".join(dataset.name for dataset in datasets())
    raise UsageError(f"no data set {name!r}; choose from: {known}")


def for_file(path: str | Path) -> Dataset:
    """Return the data set of a file of rows, based on the file's name.

    "summeval.jsonl", "summeval.dev.jsonl.gz" and "summeval" are SummEval. A file with another name is a data
    set of its own, named after the file, with the dimensions of its rows.

    Raises:
        UsageError: If the file is named after a group of data sets, which cannot be pooled.

    >>> for_file("data/frank_xsum.valid.jsonl.gz").name, for_file("mine.csv").name
    ('frank_xsum', 'mine')
    """
    stem = stem_of(path)
    head = stem.partition(".")[0]
    for dataset in datasets():
        if head in dataset.files:
            return dataset
    members = [dataset for dataset in datasets() if dataset.group == head]
    if members:
        check_not_pooled(members)
    return Dataset(stem, f"the rows of {Path(path).name}", (stem,))


def stem_of(path: str | Path) -> str:
    """Return a file's name without the extensions of its format.

    >>> stem_of("rows/summeval.dev.jsonl.gz"), stem_of("mine.csv"), stem_of("plain")
    ('summeval.dev', 'mine', 'plain')
    """
    name = Path(path).name
    return name.removesuffix(".gz").rpartition(".")[0] or name


def check_not_pooled(together: Sequence[Dataset]) -> None:
    """Check that rows to correlate come from one data set.

    Raises:
        UsageError: If there is more than one data set.
    """
    names = list(dict.fromkeys(dataset.name for dataset in together))
    if len(names) < 2:
        return
    raise UsageError(
        f"{' and '.join(names)} are never pooled: their judgements differ in level, so a metric that only "
        "distinguishes the sets correlates (.56 over the halves of FRANK, zero on each); use one at a time"
    )


def _dataset(name: str, table: dict[str, Any], shared: dict[str, list[dict[str, str]]]) -> Dataset:
    """Build a data set from its table; an unknown or missing key is an error."""
    ends, scales = table.pop("scale", [-math.inf, math.inf]), table.pop("scales", {})
    less = table.pop("less_is_better", [])
    dimensions = []
    for each in table.pop("dimensions"):
        low, high = scales.get(each, ends)
        dimensions.append(Dimension(each, low, high, -1 if each in less else 1))
    sources = table.pop("sources", []) + shared.get(table.pop("shared", ""), [])
    variants = table.pop("variants", {})
    # The types of the values are not checked here; a test reads every declaration.
    others: dict[str, Any] = {key: tuple(x) if isinstance(x, list) else x for key, x in table.items()}
    if "levels" in others:
        others["levels"] = tuple(map(level_name, others["levels"]))
    return Dataset(
        name=name,
        **others,
        dimensions=tuple(dimensions),
        sources=tuple(_source(source) for source in sources),
        variants=tuple(_variant(key, value) for key, value in variants.items()),
    )


def _variant(name: str, table: dict[str, Any]) -> Variant:
    """Build a variant; its documents are in a text file next to the declaration, one id per line."""
    documents: tuple[str, ...] = ()
    if "documents" in table:
        file = files("gistmeter.bench.datasets") / "declared" / table["documents"]
        documents = tuple(file.read_text(encoding="utf-8").split())
    return Variant(name, table["title"], table.get("references"), tuple(table.get("systems", ())), documents)


def _source(table: dict[str, str]) -> Source:
    """Build a source from a URL and a local path, or from a path in a GitHub repository."""
    revision, sha256 = table.get("revision", ""), table.get("sha256")
    if "repository" not in table:
        return Source(table["address"], table["file"], revision, sha256)
    repository, path = table["repository"], table["path"]
    file = f"{repository.rpartition('/')[2]}/{path.rpartition('/')[2]}"
    address = f"https://raw.githubusercontent.com/{repository}/{revision}/{path}"
    return Source(address, file, revision, sha256)


def _with_references(row: Row, count: int | None) -> Row:
    if count is None or len(row.example.references) <= count:
        return row
    return replace(row, example=replace(row.example, references=row.example.references[:count]))
