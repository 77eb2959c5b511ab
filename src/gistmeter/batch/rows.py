"""Input rows, read one by one from jsonl, csv, tsv or parquet, so that a file of any length fits.

A line that cannot be read becomes a row with its problem; it never stops the others.
"""

import codecs
import csv
import gzip
import io
import json
import math
import os
import stat
import sys
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TextIO, cast

from gistmeter.core.errors import BadRow, DataError, MissingExtra, UsageError
from gistmeter.core.example import Example
from gistmeter.core.row import Row

FIELDS = ("id", "candidate", "source", "references", "system", "doc_id", "scores")
SUFFIXES = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
PARQUET_BATCH = 256

Record = tuple[str, Mapping[str, object] | BadRow]  # where it stands, and its columns or what is wrong


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
    return _rows(name, "jsonl" if name == "-" else _kind(name), fields)


def _check_fields(fields: Mapping[str, str]) -> None:
    for name in fields:
        if name not in FIELDS and not name.startswith("scores."):
            raise UsageError(f"no field {name!r}; there are: {', '.join(FIELDS)}, scores.NAME")


def _kind(name: str) -> str:
    try:
        is_folder = stat.S_ISDIR(os.stat(name).st_mode)
    except FileNotFoundError:
        raise DataError(f"{name} does not exist; check the path") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {name}: {_reason(error)}") from None
    if is_folder:
        raise DataError(f"{name} is a folder; name a file in it")
    if name.lower().endswith((".json", ".json.gz")):
        raise DataError(f"{name}: rows must be one JSON object a line (.jsonl); try: jq -c '.[]' {name}")
    if not name.lower().endswith(SUFFIXES):
        raise UsageError(f"{name}: unknown format; the name must end in one of {', '.join(SUFFIXES)}")
    return name.lower().removesuffix(".gz").rpartition(".")[2]


def _rows(name: str, kind: str, fields: Mapping[str, str]) -> Iterator[Row]:
    place, number = "", 0
    try:
        for number, (place, record) in enumerate(_records(name, kind, fields), 1):
            try:
                if isinstance(record, BadRow):
                    raise record
                row = _row(record, number, fields)
            except BadRow as error:
                row = Row(Example(place, ""), problem=f"{place}: {error}")
            yield row
    except (OSError, EOFError, zlib.error) as error:
        if not number:
            raise DataError(f"cannot read {name}: {_reason(error)}") from None
        # Raising here would cost a caller who gathers chunks the rows of the last, unfinished chunk.
        problem = f"after {place}: {name} is damaged or cut off, what follows is lost: {_reason(error)}"
        yield Row(Example(f"after {place}", ""), problem=problem)


def _records(name: str, kind: str, fields: Mapping[str, str]) -> Iterator[Record]:
    if kind == "parquet":
        yield from _parquet_records(name, fields)
        return
    with _opened(name) as text:
        if kind == "jsonl":
            yield from _json_records(name, text, fields)
        else:
            yield from _cell_records(name, text, fields, "\t" if kind == "tsv" else ",")


@contextmanager
def _opened(name: str) -> Iterator[TextIO]:
    """Open as text, unpacked where it is gzip; bytes that are not UTF-8 become lone surrogates."""
    stdin = name == "-"
    raw = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer) if stdin else io.FileIO(name))
    try:
        packed = raw.peek(2)[:2] == b"\x1f\x8b"
        if name.lower().endswith(".gz") and not packed:
            raise DataError(f"{name} is not a gzip file; rename it or pack it again")
        data = gzip.GzipFile(fileobj=raw) if packed else raw
        if data.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise DataError(f"{name} is not UTF-8 but UTF-16; convert it with: iconv -f UTF-16 -t UTF-8")
        text = io.TextIOWrapper(data, encoding="utf-8-sig", errors="surrogateescape", newline="")
        try:
            yield text
        finally:
            text.detach()
    finally:
        raw.detach() if stdin else raw.close()  # standard input is not ours to close


def _json_records(name: str, text: TextIO, fields: Mapping[str, str]) -> Iterator[Record]:
    checked = False
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        record = _parsed(line)
        if not checked and not isinstance(record, BadRow):
            _check_columns(name, list(record), fields.values())
            checked = True
        yield f"line {number}", record


def _parsed(line: str) -> Mapping[str, object] | BadRow:
    if problem := _not_utf8(line):
        return problem
    try:
        record = json.loads(line.rstrip())
    except json.JSONDecodeError as error:
        return BadRow(f"not JSON: {error.msg} at character {error.pos + 1}")
    except (ValueError, RecursionError) as error:
        return BadRow(f"not JSON that can be read: {error}")
    return record if isinstance(record, dict) else BadRow("not a JSON object: write {...} on the line")


def _not_utf8(text: str) -> BadRow | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return BadRow(f"not UTF-8 text at character {error.start + 1}")
    return None


def _cell_records(name: str, text: TextIO, fields: Mapping[str, str], delimiter: str) -> Iterator[Record]:
    csv.field_size_limit(2**31 - 1)  # the library refuses cells over 131,072 characters otherwise
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    try:
        header = next((cells for cells in reader if cells), [])
    except csv.Error as error:
        raise DataError(f"{name}: the line of column names cannot be read: {error}") from None
    if not header:
        return
    if len(set(header)) < len(header) or _not_utf8("".join(header)):
        raise DataError(f"{name}: column names must be UTF-8 text and differ: {_listed(header)}")
    _check_columns(name, header, [fields.get("candidate", "candidate"), *fields.values()])
    while True:
        place = f"line {reader.line_num + 1}"
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield place, BadRow(f"quotes or cells out of order: {error}")
            continue
        if cells is None:
            return
        if cells:
            yield place, _from_cells(header, cells, fields)


def _from_cells(header: list[str], cells: list[str], fields: Mapping[str, str]) -> dict[str, object] | BadRow:
    if len(cells) != len(header):
        return BadRow(f"{len(cells)} cells, but there are {len(header)} column names")
    if problem := _not_utf8("".join(cells)):
        return problem
    candidate, references = (fields.get(name, name) for name in ("candidate", "references"))
    pairs = zip(header, cells, strict=True)
    record: dict[str, object] = {name: cell if name == candidate else cell or None for name, cell in pairs}
    cell = record.get(references)
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            record[references] = json.loads(cell)
        except (ValueError, RecursionError):
            return BadRow('references start with "[" but are not a JSON list; write ["one", "two"]')
    return record


def _parquet_records(name: str, fields: Mapping[str, str]) -> Iterator[Record]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    try:
        with pq.ParquetFile(name) as file:
            columns = list(file.schema_arrow.names)
            _check_columns(name, columns, [fields.get("candidate", "candidate"), *fields.values()])
            wanted = {*FIELDS, *fields.values()}
            used = [column for column in columns if column in wanted or column.startswith("scores.")]
            batches = file.iter_batches(batch_size=PARQUET_BATCH, columns=used)
            records = chain.from_iterable(batch.to_pylist() for batch in batches)
            for number, record in enumerate(records, 1):
                yield f"row {number}", record
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise OSError(str(error)) from error


def _check_columns(name: str, columns: list[str], needed: Collection[str]) -> None:
    for column in needed:
        if column not in columns:
            hint = "" if column != "candidate" else "; name it with --fields candidate=COLUMN"
            raise DataError(f"{name} has no column {column!r}; there are: {_listed(columns)}{hint}")


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


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0]
