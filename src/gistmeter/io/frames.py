"""Rows from data in memory: dicts, Examples, columns, and frames of pandas, polars, pyarrow and others."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gistmeter.core.errors import BadRow, DataError, MissingField, UsageError
from gistmeter.core.example import Example, Need, is_missing
from gistmeter.core.nearest import did_you_mean, nearest
from gistmeter.core.row import FIELDS, Row
from gistmeter.io.records import check_fields, row_from

LOG = logging.getLogger("gistmeter")
LIKE = 0.8
"""A column this similar to a field that is not there is reported as a likely mistake."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows, and the columns they came from.

    Args:
        rows: In the order given.
        columns: The names of the columns; None where the rows are Examples, whose fields are fixed.
        fields: The column of each field whose column has another name.
    """

    rows: Sequence[Row]
    columns: tuple[str, ...] | None = None
    fields: Mapping[str, str] | None = None

    def check(self, metric: str, needs: Sequence[Need]) -> None:
        """Check that there is a column for everything that a metric needs.

        Raises:
            MissingField: If there is none; the message names the nearest column.
        """
        for field in ("candidate", *needs):
            column = (self.fields or {}).get(field, field)
            if self.columns is None or not self.rows or column in self.columns:
                continue
            similar = nearest(column, self.columns)
            hint = f" (did you mean {similar!r}? pass fields={{{field!r}: {similar!r}}})" if similar else ""
            there = ", ".join(map(repr, self.columns[:20])) or "none"
            raise MissingField(f"{metric} needs {field}: no column {column!r}{hint}; there are: {there}")


def table_from(data: object, *, fields: Mapping[str, str] | None = None) -> Table:
    """Read rows from data in memory.

    Args:
        data: An iterable of dicts or Examples (a list, a generator, a `datasets.Dataset`), a mapping of
            columns to lists, or a frame that narwhals knows (pandas, polars, pyarrow, …).
        fields: The column of each field whose column has another name, as in `{"candidate": "summary"}`.

    Returns:
        One row a row of the data. A row that cannot be read has its problem; a missing text (None, NaN)
        is a problem of its row. A row without an id is numbered by its position, from 1.

    Raises:
        UsageError: If a field does not exist, or the data are of no such kind.
        DataError: If columns have different lengths, or a frame cannot be read.

    >>> table_from([{"candidate": "A cat."}, {"candidate": None, "id": 7}]).rows[1].problem
    "no candidate: 'candidate' is missing or null"
    """
    chosen = dict(fields or {})
    check_fields(chosen)
    columns, records = _records(data)
    rows = [_row(record, number, chosen) for number, record in enumerate(records, 1)]
    if columns is None and not isinstance(data, Mapping):
        columns = _keys(records)
    if columns is not None:
        _note_misspelled(columns, chosen)
    return Table(rows, columns, chosen)


def as_list(name: str, values: object) -> list[Any]:
    """Return a column of the user's as a list: of a list, a generator, an array, or a frame's series.

    Raises:
        UsageError: If it is one text, or no sequence at all.
    """
    if isinstance(values, list | tuple):
        return list(values)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise UsageError(f"{name} must be a list with one entry a row, not {type(values).__name__}")
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series.to_list()
    as_python = getattr(values, "tolist", None)  # arrays of numpy and pyarrow hold values of their own types
    return list(as_python() if as_python else values)


def _records(data: object) -> tuple[tuple[str, ...] | None, list[object]]:
    """Return the columns, if the data name them once for all rows, and the rows."""
    if isinstance(data, Mapping):
        return tuple(map(str, data)), list(_from_columns(data))
    if not isinstance(data, list | tuple):
        import narwhals as nw

        frame: Any = nw.from_native(data, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        if isinstance(frame, nw.DataFrame):
            return tuple(map(str, frame.columns)), list(frame.iter_rows(named=True))
    if isinstance(data, str | bytes | Example) or not isinstance(data, Iterable):
        what = type(data).__name__
        raise UsageError(f"rows must be a list of dicts or Examples, columns or a frame, not {what}")
    return None, list(data)


def _from_columns(data: Mapping[Any, object]) -> Iterator[dict[str, object]]:
    columns = {str(name): as_list(str(name), values) for name, values in data.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DataError(f"columns must have one entry a row, and these differ in length: {said}")
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _row(record: object, number: int, fields: Mapping[str, str]) -> Row:
    if isinstance(record, Example):
        return Row(record if record.id else replace(record, id=str(number)))
    if isinstance(record, Row):
        return record
    if not isinstance(record, Mapping):
        what = type(record).__name__
        return Row(Example(str(number), ""), problem=f"a row must be a dict or an Example, not {what}")
    try:
        return row_from(record, number, fields)
    except BadRow as error:
        labels = {name: record.get(fields.get(name, name)) for name in ("id", "system", "doc_id")}
        known: dict[str, Any] = {name: None if is_missing(x) else str(x) for name, x in labels.items()}
        known["id"] = known["id"] or str(number)
        return Row(Example(candidate="", **known), problem=str(error))


def _keys(records: Sequence[object]) -> tuple[str, ...] | None:
    """Return the keys of all dicts; None if there are Examples among them."""
    if any(isinstance(record, Example | Row) for record in records):
        return None
    dicts = (record for record in records if isinstance(record, Mapping))
    return tuple(dict.fromkeys(str(key) for record in dicts for key in record))


def _note_misspelled(columns: Sequence[str], fields: Mapping[str, str]) -> None:
    """Report columns that are not read and look like a field that is not there."""
    absent = [name for name in FIELDS if name != "scores" and fields.get(name, name) not in columns]
    for column in columns:
        unread = column not in FIELDS and column not in fields.values()
        if unread and nearest(column, absent, cutoff=LIKE):
            LOG.warning("column %r is not read%s", column, did_you_mean(column, absent))
