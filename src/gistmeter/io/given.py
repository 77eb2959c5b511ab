"""Read the rows given to a Python function: rows in memory, the path of a file, or columns by keyword."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from gistmeter.core.errors import UsageError
from gistmeter.core.language import primary
from gistmeter.core.row import with_language
from gistmeter.io.frames import Table, as_list, table_from

COLUMNS = {
    "candidates": "candidate",
    "sources": "source",
    "references": "references",
    "ids": "id",
    "systems": "system",
    "doc_ids": "doc_id",
    "languages": "language",
}
"""The keyword of each column, with the field that the column contains."""


def read_spoken(
    rows: object, columns: Mapping[str, Any], fields: Mapping[str, str] | None, language: str | None
) -> Table:
    """Return the rows to score, with a language for those that name none; see `read_table`.

    Raises:
        UsageError: As in `read_table`, and if the language is not a BCP 47 tag.
    """
    table = read_table(rows, columns, fields)
    try:
        spoken = primary(language) if language else None
    except ValueError as error:
        raise UsageError(str(error)) from None
    return replace(table, rows=list(with_language(table.rows, spoken)))


def read_table(rows: object, columns: Mapping[str, Any], fields: Mapping[str, str] | None) -> Table:
    """Return the rows to score, from rows, a file or columns.

    Raises:
        UsageError: If neither rows nor columns are given, or both.
    """
    if rows is None and not columns:
        raise UsageError("there is nothing to score; give rows, or candidates=[…]")
    if columns and (rows is not None or fields):
        raise UsageError(f"give rows (with or without fields), or {', '.join(columns)}; not both")
    if columns:
        return table_from({COLUMNS[name]: as_list(name, values) for name, values in columns.items()})
    if isinstance(rows, str | PathLike):
        from gistmeter.io.rows import read_rows

        return Table(list(read_rows(str(rows), fields=fields or {})))
    return table_from(rows, fields=fields)
