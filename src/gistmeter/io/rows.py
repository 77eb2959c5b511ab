"""Input rows, read one by one from jsonl, csv, tsv or parquet, so that a file of any length fits.

A line that cannot be read becomes a row with its problem; it never stops the others.
"""

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from gistmeter.core.errors import BadRow, DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.core.row import Row
from gistmeter.io.formats import format_of, read_records, reason
from gistmeter.io.records import check_fields, row_from


def parse_fields(text: str) -> dict[str, str]:
    """Read which column holds which field, as the command line gives it.

    Besides the fields of a row, `scores.NAME` may stand for the column of one human judgement.

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

    A file that turns out to be cut off or damaged ends in a row that says so, after all the rows that
    could be read. In csv and tsv an empty cell is a missing value (but a candidate stays an empty text),
    and a cell of references that starts with "[" is a JSON list. A row without an id is named after its
    number, counted from 1. NaN is a missing value everywhere.

    Args:
        path: .jsonl, .csv or .tsv, each also packed as .gz; .parquet; or "-", jsonl from standard input.
        fields: The column of each field whose column is called otherwise, as from `parse_fields`.

    Raises:
        UsageError: If the format is unknown or a field does not exist.
        MissingExtra: If pyarrow is needed and not installed.
        DataError: If the file cannot be read, or lacks a column that it must have.
    """
    check_fields(fields)
    name = str(path)
    return _rows(name, "jsonl" if name == "-" else format_of(name), fields)


def _rows(name: str, kind: str, fields: Mapping[str, str]) -> Iterator[Row]:
    place, number = "", 0
    try:
        for number, (place, record) in enumerate(read_records(name, kind, fields), 1):
            try:
                if isinstance(record, BadRow):
                    raise record
                row = row_from(record, number, fields)
            except BadRow as error:
                row = Row(Example(place, ""), problem=f"{place}: {error}")
            yield row
    except (OSError, EOFError, zlib.error) as error:
        if not number:
            raise DataError(f"cannot read {name}: {reason(error)}") from None
        # Raising here would cost a caller who gathers chunks the rows of the last, unfinished chunk.
        problem = f"after {place}: {name} is damaged or cut off, what follows is lost: {reason(error)}"
        yield Row(Example(f"after {place}", ""), problem=problem)
