"""Read a file of the user's own scores by id; each column acts as a metric."""

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path

from gistmeter.core.errors import BadRow, DataError
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ANY, Languages
from gistmeter.core.row import FIELDS
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature
from gistmeter.io.files import is_stream, reason
from gistmeter.io.formats import Record, format_of, read_records

TASK = "task"
NO_METRIC = {*FIELDS, TASK}
Key = tuple[str | None, str]  # (task or None, id)


@dataclass(frozen=True)
class Column:
    """A column of numbers as a metric: the score of an example is the number of its id.

    Args:
        name: The name of the column.
        file: The name of the file.
        sha256: The SHA-256 of the file.
        values: The number of each id; a missing id has an undefined score.
    """

    name: str
    file: str
    sha256: str
    values: Mapping[str, float] = field(repr=False)
    needs: tuple[Need, ...] = ()
    languages: Languages = ANY

    @property
    def signature(self) -> Signature:
        """The file's name and digest and the column, which determine the scores."""
        return Signature.of("scores", version=1, file=self.file, sha256=self.sha256[:16], column=self.name)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Return the number of each example's id."""
        return [self._score(example.id) for example in examples]

    def _score(self, id: str) -> Score:
        if id in self.values:
            return Score(id, self.values[id])
        return Score.undefined(id, f"{self.file} has no {self.name} for this id")


@dataclass(frozen=True)
class ScoresFile:
    """A file of scores.

    Args:
        path: The path of the file.
        sha256: The SHA-256 of the file.
        columns: The numbers of each column, by task and id; missing values are absent.
        left_out: Columns without numbers, which are ignored.
        keys: The task and id of each record, in order.
    """

    path: Path
    sha256: str
    columns: Mapping[str, Mapping[Key, float]] = field(repr=False)
    left_out: tuple[str, ...]
    keys: tuple[Key, ...] = field(repr=False)

    @classmethod
    def read(cls, path: str | Path) -> "ScoresFile":
        """Read a csv, tsv or jsonl file with a column `id` and one or more columns of numbers.

        An optional column `task` names the file of rows that an id belongs to. An empty cell, null and NaN
        are missing values. The fields of rows (`candidate`, `system`, …) are ignored.

        Raises:
            UsageError: If the format is unknown.
            DataError: If the file or a line cannot be read, an id is missing or repeated, no column has
                numbers, or a column mixes numbers and other values.
        """
        name = str(path)
        kind = format_of(name)
        if kind == "parquet" or is_stream(name):  # a pipe cannot be read twice, for the rows and the digest
            raise DataError(f"{name}: --scores takes a csv, tsv or jsonl file, not parquet or a pipe")
        try:
            # A file of rows requires a candidate, a file of scores an id.
            records = list(read_records(name, kind, {"candidate": "id"}))
            with Path(name).open("rb") as file:
                digest = file_digest(file, "sha256").hexdigest()
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"cannot read {name}: {reason(error)}") from None
        found = _by_key(name, records)
        every = dict.fromkeys(column for _, record in found.values() for column in record)
        names = [column for column in every if column not in NO_METRIC]
        columns = {column: _numbers(name, column, found, quoted=kind != "jsonl") for column in names}
        kept = {column: numbers for column, numbers in columns.items() if numbers}
        if not kept:
            raise DataError(f"{name} has no column of numbers besides the ids; add one")
        left_out = tuple(column for column in columns if column not in kept)
        return cls(Path(name), digest, kept, left_out, tuple(found))

    def match(self, ids: Mapping[str, Sequence[str]], *, whole: bool = True) -> dict[str, list[Column]]:
        """Return the columns for each task that has scores in the file, with the values of its ids.

        Args:
            ids: The ids of the rows of each task, in order.
            whole: Whether these are all rows of each task, so that any other id is an error.

        Raises:
            DataError: If an id or task is unknown, or an id matches more than one row.
        """
        place: dict[str, list[str]] = {}
        for task, rows in ids.items():
            for id in rows:
                place.setdefault(id, []).append(task)
        matched: dict[str, dict[Key, str]] = {}
        unknown = []
        for key in self.keys:
            named, id = key
            tasks = [task for task in place.get(id, ()) if named in (None, task)]
            if len(tasks) == 1:
                matched.setdefault(tasks[0], {})[key] = id
            elif tasks:
                raise DataError(_ambiguous(self.path, id, tasks))
            else:
                unknown.append(id if named is None else f"{id} of task {named}")
        if unknown and (whole or not matched):
            raise DataError(f"{self.path}: {len(unknown)} ids match no row; the first: {unknown[0]}")
        return {task: self._columns(found) for task, found in matched.items()}

    def _columns(self, ids: Mapping[Key, str]) -> list[Column]:
        """Return each column with the numbers of the given keys."""
        return [
            Column(
                name,
                self.path.name,
                self.sha256,
                {id: numbers[key] for key, id in ids.items() if key in numbers},
            )
            for name, numbers in self.columns.items()
        ]


def _by_key(name: str, records: Sequence[Record]) -> dict[Key, tuple[str, Mapping[str, object]]]:
    """Return the position and the columns of each record, by task and id."""
    found: dict[Key, tuple[str, Mapping[str, object]]] = {}
    for place, record in records:
        if isinstance(record, BadRow):
            raise DataError(f"{name} {place}: {record}")
        task, id = record.get(TASK), record.get("id")
        if id is None or id == "" or isinstance(id, bool) or not isinstance(id, str | int | float):
            raise DataError(f"{name} {place}: the id must be a string or a number")
        key = (None if task is None else str(task), str(id))
        if key in found:
            raise DataError(f"{name} {place}: the id {key[1]} is repeated; keep one of its lines")
        found[key] = place, record
    return found


def _numbers(
    name: str, column: str, found: Mapping[Key, tuple[str, Mapping[str, object]]], *, quoted: bool
) -> dict[Key, float]:
    """Return the numbers of a column; an empty dict for a column without numbers.

    Args:
        name: The name of the file, for errors.
        column: The name of the column.
        found: The records from `_by_key`.
        quoted: Whether numbers are strings, as in the cells of a csv file.
    """
    numbers: dict[Key, float] = {}
    strange: list[str] = []
    looks = False  # whether a string looks like a number
    for key, (place, record) in found.items():
        value = record.get(column)
        number = _number(value)
        if isinstance(value, str) and not quoted:
            looks = looks or number is not None
            number = None
        if number is None and value is not None:
            strange.append(f"{place}: {column} is {value!r}")
        elif number is not None and not math.isnan(number):
            numbers[key] = number
    if strange and (numbers or looks):
        raise DataError(f"{name} {strange[0]}, not a number; leave a missing value empty (null in JSON)")
    return numbers


def _number(value: object) -> float | None:
    """Convert a number or numeric string, including NaN; return None for anything else, and for infinity."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if math.isinf(number) else number


def _ambiguous(path: Path, id: str, tasks: Sequence[str]) -> str:
    if len(set(tasks)) == 1:
        return f"{path}: the id {id} matches {len(tasks)} rows of {tasks[0]}; make the ids of rows unique"
    return f"{path}: the id {id} matches rows of {' and '.join(tasks)}; add a column {TASK} to choose"
