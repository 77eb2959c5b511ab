"""Read rows from data in memory: dicts, Examples, columns, and pandas, polars or pyarrow data frames."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gistmeter.core.errors import BadRow, DataError, MissingField, UsageError
from gistmeter.core.example import Example, Need, is_missing
from gistmeter.core.nearest import did_you_mean, nearest
from gistmeter.core.row import FIELDS, Row
from gistmeter.io.aliases import ALIASES, AliasNotes, with_aliases
from gistmeter.io.records import check_fields, labels_of, row_from

LOG = logging.getLogger("gistmeter")
ALIAS_NAMES = {name for names in ALIASES.values() for name in names}
LIKE = 0.8
"""Minimum similarity at which an unknown column is reported as a likely misspelling of a missing field."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the names of their columns.

    Args:
        rows: The rows in the order given.
        columns: The names of the columns; None if the rows are Examples, whose fields are fixed.
        fields: The column of each field whose column has another name.
    """

    rows: Sequence[Row]
    columns: tuple[str, ...] | None = None
    fields: Mapping[str, str] | None = None

    def check(self, metric: str, needs: Sequence[Need]) -> None:
        """Check that there is a column for each field that a metric requires.

        Raises:
            MissingField: If a column is missing; the message names the most similar column.
        """
        for field in ("candidate", *needs):
            column = (self.fields or {}).get(field, field)
            names = {column, *(ALIASES[field] if column == field else ())}
            if self.columns is None or not self.rows or not names.isdisjoint(self.columns):
                continue
            similar = nearest(column, self.columns)
            hint = f" (did you mean {similar!r}? pass fields={{{field!r}: {similar!r}}})" if similar else ""
            there = ", ".join(map(repr, self.columns[:20])) or "none"
            raise MissingField(f"{metric} needs {field}: no column {column!r}{hint}; there are: {there}")


def table_from(data: object, *, fields: Mapping[str, str] | None = None) -> Table:
    """Read rows from data in memory.

    Args:
        data: An iterable of dicts or Examples (a list, a generator, a `datasets.Dataset`), a mapping of
            columns to lists, or a data frame that narwhals supports (pandas, polars, pyarrow, …).
        fields: The column of each field whose column has another name, as in `{"candidate": "summary"}`.

    Returns:
        A table with one row per row of the data. An unreadable row, or a row without a candidate (None,
        NaN), has a problem. A row without an id gets its position, from 1, as id.

    Raises:
        UsageError: If a field does not exist, or the data has another type.
        DataError: If columns have different lengths, a data frame cannot be read, or several columns of the
            first row can be the same field.

    >>> table_from([{"candidate": "A cat."}, {"candidate": None, "id": 7}]).rows[1].problem
    "no candidate: 'candidate' is missing or null"
    """
    chosen = dict(fields or {})
    check_fields(chosen)
    columns, records = _records(data)
    notes = AliasNotes(chosen)
    rows = [_row(record, number, chosen, notes) for number, record in enumerate(records, 1)]
    if columns is None and not isinstance(data, Mapping):
        columns = _keys(records)
    if columns is not None:
        _note_misspelled(columns, chosen)
    return Table(rows, columns, chosen)


def as_list(name: str, values: object) -> list[Any]:
    """Convert a column to a list: a list, a generator, an array, or a series of a data frame.

    Raises:
        UsageError: If the column is a single string, or is not iterable.
    """
    if isinstance(values, list | tuple):
        return list(values)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise UsageError(f"{name} must be a list with one entry per row, not {type(values).__name__}")
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series.to_list()
    as_python = getattr(values, "tolist", None)  # numpy and pyarrow arrays yield their own scalar types
    return list(as_python() if as_python else values)


def _records(data: object) -> tuple[tuple[str, ...] | None, list[object]]:
    """Return the columns, if the data defines them for all rows, and the rows."""
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
        kind = type(data).__name__
        raise UsageError(f"rows must be a list of dicts or Examples, columns or a data frame, not {kind}")
    return None, list(data)


def _from_columns(data: Mapping[Any, object]) -> Iterator[dict[str, object]]:
    columns = {str(name): as_list(str(name), values) for name, values in data.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DataError(f"columns must have the same length; found: {said}")
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _row(record: object, number: int, fields: Mapping[str, str], notes: AliasNotes) -> Row:
    if isinstance(record, Example):
        return Row(record if record.id else replace(record, id=str(number)))
    if isinstance(record, Row):
        return record
    if not isinstance(record, Mapping):
        what = type(record).__name__
        return Row(Example(str(number), ""), problem=f"a row must be a dict or an Example, not {what}")
    try:
        fields = _with_aliases(record, number, fields)
        row = row_from(record, number, fields)
        notes.add(fields)
        return row
    except BadRow as error:
        given = record.get(fields.get("id", "id"))
        labels = {"id": str(number if is_missing(given) else given), **labels_of(record, fields)}
        return Row(Example(candidate="", **labels), problem=str(error))


def _with_aliases(record: Mapping[str, object], number: int, fields: Mapping[str, str]) -> Mapping[str, str]:
    try:
        return with_aliases(record, fields)
    except BadRow as error:
        if number > 1:
            raise
        raise DataError(f"the rows cannot be read: {error}") from None


def _keys(records: Sequence[object]) -> tuple[str, ...] | None:
    """Return the keys of all dicts; None if any record is an Example or a Row."""
    if any(isinstance(record, Example | Row) for record in records):
        return None
    dicts = (record for record in records if isinstance(record, Mapping))
    return tuple(dict.fromkeys(str(key) for record in dicts for key in record))


def _note_misspelled(columns: Sequence[str], fields: Mapping[str, str]) -> None:
    """Warn about unknown columns whose name is similar to a missing field."""
    absent = [name for name in FIELDS if name != "scores" and fields.get(name, name) not in columns]
    for column in columns:
        unread = column not in FIELDS and column not in fields.values() and column not in ALIAS_NAMES
        if unread and nearest(column, absent, cutoff=LIKE):
            LOG.warning("column %r is ignored%s", column, did_you_mean(column, absent))
