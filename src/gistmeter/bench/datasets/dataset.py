"""What is known of each set of human judgements: a declaration a task, in the TOML files of `declared`.

A task says where its data come from, how they are read, what people judged and on which scale. A file of
rows belongs to the task whose `files` its name starts with; any other file is a task of its own, known by
its rows alone.

Two tasks are never pooled. Correlation over a mixture mostly says which set a row is from: on FRANK, where
mean factuality is .08 on XSum and .78 on CNN/DailyMail, a metric at zero on each half reaches .56 pooled.
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

UNKNOWN = "not known: a file of your own"


@dataclass(frozen=True, slots=True)
class Dimension:
    """Something that people judged.

    Args:
        name: As in the rows' `scores`.
        low: The least judgement there can be; -inf if there is no end.
        high: The greatest.
        orientation: 1 if more is better, -1 if less is.
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    orientation: Literal[1, -1] = 1


@dataclass(frozen=True, slots=True)
class Source:
    """A file as its authors publish it.

    Args:
        address: Where it can be fetched.
        file: Where it lies among the originals on this machine, as FOLDER/NAME.
        revision: The commit meant; "" where the address has no versions.
        sha256: Of the file; None where nobody has told us.
    """

    address: str
    file: str
    revision: str = ""
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """A part of a task that papers report apart.

    Args:
        name: What it is called.
        title: What it is, for people.
        references: How many of each row's references to keep, from the first; None keeps all.
        systems: Whose rows to keep; empty keeps all.
    """

    name: str
    title: str
    references: int | None = None
    systems: tuple[str, ...] = ()

    def select(self, rows: Iterable[Row]) -> list[Row]:
        """Return the variant's rows."""
        kept = (row for row in rows if not self.systems or row.example.system in self.systems)
        return [_with_references(row, self.references) for row in kept]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A set of human judgements.

    Args:
        name: What it is called.
        title: What it holds, for people.
        files: What the names of its files of rows start with, up to a dot or the end.
        dimensions: What people judged; empty where only the rows know.
        levels: Those that make sense: without documents or systems, pooled alone.
        group: Tasks that belong together and still must not be pooled; "" if there are no others.
        licence: Of the data.
        citation: The paper to cite.
        superseded_by: The task to use instead; "" if this one stands.
        loader: Which loader of `bench.datasets.loaders` knows the originals; "" if none does.
        sources: The originals, in the order in which the loader wants them.
        obtain: How to come by the data where they cannot be fetched.
        note: What a user of the figures should know.
        variants: Parts that papers report apart.
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

    def dimension(self, name: str) -> Dimension:
        """Return what is known of a dimension; of one that is not declared, that more is better."""
        return next((known for known in self.dimensions if known.name == name), Dimension(name))

    def variant(self, name: str) -> Variant:
        """Return one of the variants.

        Raises:
            UsageError: If there is none of that name.
        """
        for variant in self.variants:
            if variant.name == name:
                return variant
        there = ", ".join(variant.name for variant in self.variants) or "none"
        raise UsageError(f"{self.name} has no variant {name!r}; there are: {there}")


@cache
def datasets() -> tuple[Dataset, ...]:
    """Return every task that is declared."""
    folder = files("gistmeter.bench.datasets") / "declared"
    found = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            tables = tomllib.loads(file.read_text(encoding="utf-8"))
            shared = tables.pop("shared", {})
            found += [_dataset(name, table, shared) for name, table in tables.items()]
    return tuple(found)


def find(name: str) -> Dataset:
    """Return a declared task.

    Raises:
        UsageError: If there is none of that name, or the name is of a group.

    >>> [dimension.name for dimension in find("summeval").dimensions]
    ['coherence', 'consistency', 'fluency', 'relevance']
    """
    for dataset in datasets():
        if dataset.name == name:
            return dataset
    members = [dataset for dataset in datasets() if dataset.group == name]
    if members:
        check_not_pooled(members)
    raise UsageError(f"no task {name!r}; there are: {', '.join(dataset.name for dataset in datasets())}")


def for_file(path: str | Path) -> Dataset:
    """Return the task that a file of rows holds, by the file's name.

    "summeval.jsonl", "summeval.dev.jsonl.gz" and "summeval" hold SummEval. A file of another name is a task
    of its own, called as the file is, about whose dimensions only its rows know.

    Raises:
        UsageError: If the file is called after a group of tasks, as if it held all of them.

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
    """Return a file's name without what its format adds.

    >>> stem_of("rows/summeval.dev.jsonl.gz"), stem_of("mine.csv"), stem_of("plain")
    ('summeval.dev', 'mine', 'plain')
    """
    name = Path(path).name
    return name.removesuffix(".gz").rpartition(".")[0] or name


def check_not_pooled(together: Sequence[Dataset]) -> None:
    """Refuse rows of several tasks in one correlation.

    Raises:
        UsageError: If there is more than one task.
    """
    names = list(dict.fromkeys(dataset.name for dataset in together))
    if len(names) < 2:
        return
    raise UsageError(
        f"{' and '.join(names)} are never pooled: their judgements differ in level, so a metric that only "
        "tells the sets apart correlates (.56 over the halves of FRANK, zero on each); take them one by one"
    )


def _dataset(name: str, table: dict[str, Any], shared: dict[str, list[dict[str, str]]]) -> Dataset:
    """Make a task of its table; a key that no task has is an error, and so is a missing one."""
    ends, scales = table.pop("scale", [-math.inf, math.inf]), table.pop("scales", {})
    less = table.pop("less_is_better", [])
    dimensions = []
    for each in table.pop("dimensions"):
        low, high = scales.get(each, ends)
        dimensions.append(Dimension(each, low, high, -1 if each in less else 1))
    sources = table.pop("sources", []) + shared.get(table.pop("shared", ""), [])
    variants = table.pop("variants", {})
    # As of any type: a test reads every declaration.
    others: dict[str, Any] = {key: tuple(x) if isinstance(x, list) else x for key, x in table.items()}
    if "levels" in others:
        others["levels"] = tuple(map(level_name, others["levels"]))
    return Dataset(
        name=name,
        **others,
        dimensions=tuple(dimensions),
        sources=tuple(_source(source) for source in sources),
        variants=tuple(
            Variant(key, value["title"], value.get("references"), tuple(value.get("systems", ())))
            for key, value in variants.items()
        ),
    )


def _source(table: dict[str, str]) -> Source:
    """Make a source: an address and a file's place, or a path in a repository on GitHub."""
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
