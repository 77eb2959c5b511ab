"""Read input rows one by one from jsonl, csv, tsv or parquet, in constant memory.

An unreadable line becomes a row with a problem; reading continues with the next line.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gistmeter.core.errors import BadRow, DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.core.row import Row
from gistmeter.io.aliases import AliasNotes, with_aliases
from gistmeter.io.files import reason
from gistmeter.io.formats import Record, format_of, read_records, text_records
from gistmeter.io.records import check_fields, labels_of, row_from


def parse_fields(text: str) -> dict[str, str]:
    """Parse the value of `--fields`, which maps fields to columns.

    Besides the fields of a row, `scores.NAME` maps the column of one human judgement.

    Raises:
        UsageError: If a field does not exist or is named twice.

    >>> parse_fields("candidate=summary,source=article")
    {'candidate': 'summary', 'source': 'article'}
    """
    fields: dict[str, str] = {}
    for item in filter(None, text.split(",")):
        name, _, column = (part.strip() for part in item.partition("="))
        if not column or name in fields:
            raise UsageError(f"--fields {item}: write each field once, as FIELD=COLUMN")
        fields[name] = column
    check_fields(fields)
    return fields


def read_rows(path: str | Path, *, fields: Mapping[str, str] = {}) -> Iterator[Row]:
    """Read a file row by row, in constant memory.

    If a file is truncated or damaged, the last row has a problem that says so, after all readable rows. In
    csv and tsv, an empty cell is a missing value (except that an empty candidate is an empty text), and a
    cell of references that starts with "[" is a JSON list. A row without an id gets its number, counted from
    1, as id. NaN is a missing value in all formats. Columns with a common other name, such as `summary`, are
    found without `fields`; see `gistmeter.io.aliases`. In jsonl, the column `outer.inner` is an entry of the
    object `outer`.

    Args:
        path: A .jsonl, .csv or .tsv file, optionally with .gz; a .parquet file; or "-" to read jsonl from
            standard input.
        fields: The column of each field whose column has another name, as from `parse_fields`.

    Raises:
        UsageError: If the format is unknown or a field does not exist.
        MissingExtra: If pyarrow is needed and not installed.
        DataError: If the file cannot be read, a required column is missing, or several columns can be the
            same field.
    """
    check_fields(fields)
    name = str(path)
    return _rows(name, "jsonl" if name == "-" else format_of(name), fields)


def rows_of(name: str, kind: str, lines: Iterable[str]) -> Iterator[Row]:
    r"""Yield the rows of a text.

    Args:
        name: The name of the text in error messages.
        kind: jsonl, csv or tsv.
        lines: The lines, with their ends.

    Raises:
        DataError: If a required column is missing.

    >>> [row.example.candidate for row in rows_of("the file", "csv", ["candidate\n", "A cat.\n"])]
    ['A cat.']
    """
    for number, record in enumerate(text_records(name, kind, iter(lines), {}, aliases=True), 1):
        yield row_at(record, number, {})


def row_at(record: Record, number: int, fields: Mapping[str, str], notes: AliasNotes | None = None) -> Row:
    """Return a record as a row; a record that cannot be read becomes a row with a problem.

    Args:
        record: The record with its position.
        number: The id of a record that has none.
        fields: The column of each field whose column has another name.
        notes: Warns about columns that are read under another name.
    """
    place, given = record
    try:
        if isinstance(given, BadRow):
            raise given
        columns = with_aliases(given, fields)
        row = row_from(given, number, columns)
    except BadRow as error:
        labels = {} if isinstance(given, BadRow) else labels_of(given, fields)
        return Row(Example(candidate="", **{"id": place, **labels}), problem=f"{place}: {error}")
    if notes is not None:
        notes.add(columns)
    return row


def _rows(name: str, kind: str, fields: Mapping[str, str]) -> Iterator[Row]:
    place, number = "", 0
    notes = AliasNotes(fields)
    try:
        for number, record in enumerate(read_records(name, kind, fields, aliases=True), 1):
            place = record[0]
            yield row_at(record, number, fields, notes)
    except (OSError, EOFError, zlib.error) as error:
        if not number:
            raise DataError(f"cannot read {name}: {reason(error)}") from None
        # An exception here would lose the rows of the caller's unfinished chunk.
        problem = f"after {place}: {name} is damaged or truncated, later rows are lost: {reason(error)}"
        yield Row(Example(f"after {place}", ""), problem=problem)
