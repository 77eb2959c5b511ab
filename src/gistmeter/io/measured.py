"""Output rows, read back: which system got which value for which text."""

import logging
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gistmeter.core.errors import BadRow, DataError
from gistmeter.io.files import reason
from gistmeter.io.formats import format_of, read_records
from gistmeter.io.tables import from_cell

LOG = logging.getLogger("gistmeter")

FILE = "file"
OPTIONAL_SYSTEM = ""
"""Stands for the system of a row that may have none."""
NEEDED = {"candidate": "id", "metric": "metric", "value": "value"}
"""Columns of every file of output rows; the id stands in for the candidate, which only input rows have."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One value of one metric.

    Args:
        id: Of the row.
        metric: The metric's label.
        value: NaN if the row has none.
        by: What is compared: the row's system, or its file.
        doc_id: What the row is about.
        signature: What decided the number.
    """

    id: str
    metric: str
    value: float
    by: str
    doc_id: str | None = None
    signature: str | None = None


def read_measured(paths: Sequence[str | Path], *, by: str = "system") -> list[Measured]:
    """Read output rows of one file or several.

    Args:
        paths: What `gistmeter score -o` writes: jsonl, csv or parquet.
        by: The column that names what is compared; `file` stands for the name of each row's file. Where
            there are several files, that name also stands in for a system that a row lacks.

    Raises:
        UsageError: If a format is unknown.
        DataError: If a file or a row cannot be read, or there is nothing to compare by.
    """
    found: list[Measured] = []
    for path, name in zip(paths, _names(paths), strict=True):
        records = _records(str(path), () if by in (FILE, "system", OPTIONAL_SYSTEM) else (by,))
        found += measured_from(records, name, by=by, alone=len(paths) == 1)
    return found


def measured_from(
    records: Iterable[tuple[str, Mapping[str, object]]], name: str, *, by: str, alone: bool
) -> Iterator[Measured]:
    """Yield the values of output rows.

    Args:
        records: Rows with their places, such as "line 3".
        name: Of the file or report they come from.
        by: The column that names what is compared, or `file`.
        alone: Whether there is no other file, so that rows must say their system themselves.

    Raises:
        DataError: If a row has no id, metric or system, or its value is no number.
    """
    nameless = 0
    for place, record in records:
        label = name if by == FILE else _label(record.get(by or "system"))
        if label is None and by == "system" and not alone:
            label = name
        id, metric = _label(record.get("id")), _label(record.get("metric"))
        if id is None or metric is None:
            raise DataError(f"{name} {place}: no id or no metric; give rows that gistmeter score -o wrote")
        if label is None and by == "system" and record.get("problem"):
            nameless += 1  # a row that could not be read has no system
            continue
        if label is None and by != OPTIONAL_SYSTEM:
            raise DataError(
                f"{name} {place}: no {by}; score rows that have a {by}, or give a file for each system"
            )
        value = _value(record.get("value"), f"{name} {place}")
        signature, document = _label(record.get("signature")), _label(record.get("doc_id"))
        yield Measured(id, metric, value, label or "", document, signature)
    if nameless:
        LOG.warning("%s: left out %d rows that could not be read and name no system", name, nameless)


def _records(name: str, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, object]]]:
    kind = format_of(name)
    optional = ("system", "doc_id", "signature", "problem") if kind == "parquet" else ()
    fields = {**NEEDED, **{column: column for column in (*columns, *optional)}}
    decode = from_cell if kind in ("csv", "tsv") else str
    try:
        for place, record in read_records(name, kind, fields):
            if isinstance(record, BadRow):
                raise DataError(f"{name} {place}: {record}")
            yield place, {key: decode(x) if isinstance(x, str) else x for key, x in record.items()}
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {name}: {reason(error)}") from None


def _names(paths: Sequence[str | Path]) -> list[str]:
    """Return short names that differ: the files' without their endings, or else the paths."""
    short = [Path(path).name.partition(".")[0] or str(path) for path in paths]
    return [str(path) if Counter(short)[name] > 1 else name for name, path in zip(short, paths, strict=True)]


def _label(value: object) -> str | None:
    return None if value is None or value == "" or value != value else str(value)  # noqa: PLR0124 - NaN


def _value(value: object, place: str) -> float:
    if value is None or value == "":
        return math.nan
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        number = float(value)
    except ValueError:
        raise DataError(f"{place}: the value is {value!r}, not a number") from None
    return number if math.isfinite(number) else math.nan
