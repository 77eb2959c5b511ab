"""Input rows, read one by one from jsonl, csv, tsv or parquet, so that a file of any length fits.

A line that cannot be read becomes a row with its problem; it never stops the others.
"""

import json
import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from gistmeter.batch.formats import FIELDS, format_of, read_records, reason
from gistmeter.core.errors import BadRow, DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.core.row import Row


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
    _check_fields(fields)
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
    _check_fields(fields)
    name = str(path)
    return _rows(name, "jsonl" if name == "-" else format_of(name), fields)


def _check_fields(fields: Mapping[str, str]) -> None:
    for name in fields:
        if name not in FIELDS and not name.startswith("scores."):
            raise UsageError(f"no field {name!r}; there are: {', '.join(FIELDS)}, scores.NAME")


def _rows(name: str, kind: str, fields: Mapping[str, str]) -> Iterator[Row]:
    place, number = "", 0
    try:
        for number, (place, record) in enumerate(read_records(name, kind, fields), 1):
            try:
                if isinstance(record, BadRow):
                    raise record
                row = _row(record, number, fields)
            except BadRow as error:
                row = Row(Example(place, ""), problem=f"{place}: {error}")
            yield row
    except (OSError, EOFError, zlib.error) as error:
        if not number:
            raise DataError(f"cannot read {name}: {reason(error)}") from None
        # Raising here would cost a caller who gathers chunks the rows of the last, unfinished chunk.
        problem = f"after {place}: {name} is damaged or cut off, what follows is lost: {reason(error)}"
        yield Row(Example(f"after {place}", ""), problem=problem)


def _row(record: Mapping[str, object], number: int, fields: Mapping[str, str]) -> Row:
    values = {name: _known(record.get(fields.get(name, name))) for name in FIELDS}
    candidate = _text("candidate", values["candidate"])
    if candidate is None:
        raise BadRow(f"no candidate: {fields.get('candidate', 'candidate')!r} is missing or null")
    example = Example(
        _label("id", values["id"]) or str(number),
        candidate,
        source=_text("source", values["source"]),
        references=_references(values["references"]),
        system=_label("system", values["system"]),
        doc_id=_label("doc_id", values["doc_id"]),
    )
    return Row(example, _scores(record, values["scores"], fields))


def _known(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value


def _text(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise BadRow(f"{name} must be a text, not {type(value).__name__}")


def _label(name: str, value: object) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    raise BadRow(f"{name} must be a text or a number, not {type(value).__name__}")


def _references(value: object) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value or []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadRow("references must be a list of texts, or one text")
    return tuple(texts)


def _scores(record: Mapping[str, object], given: object, fields: Mapping[str, str]) -> dict[str, float]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise BadRow('scores are not JSON; write {"fluency": 4.5}') from None
    if given is not None and not isinstance(given, Mapping):
        raise BadRow("scores must be an object: {dimension: number}")
    columns = {**{name: name for name in record}, **fields}
    flat = {name[7:]: record.get(column) for name, column in columns.items() if name.startswith("scores.")}
    numbers = {dimension: _number(value) for dimension, value in {**(given or {}), **flat}.items()}
    return {dimension: number for dimension, number in numbers.items() if number is not None}


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # what is no number raises
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
