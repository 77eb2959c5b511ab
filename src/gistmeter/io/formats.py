"""Read files as records: the columns of each line, before they are checked.

Reads jsonl, csv, tsv and parquet, compressed or not; an unreadable line becomes a `BadRow` at its position.
"""

import codecs
import gzip
import io
import json
import os
import stat
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from gistmeter.core.errors import BadRow, DataError, MissingExtra, UsageError
from gistmeter.core.nearest import did_you_mean
from gistmeter.core.row import FIELDS
from gistmeter.io.aliases import with_aliases
from gistmeter.io.cells import comma_cells, tab_cells
from gistmeter.io.files import reason

if TYPE_CHECKING:
    from pyarrow import RecordBatch

SUFFIXES = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
PARQUET_BATCH = 256
LONGEST_LINE = 2**26  # characters
LOOKED_AT = 256
"""Rows of jsonl among which one must have a column that is named in `fields`."""

Record = tuple[str, Mapping[str, object] | BadRow]  # position, and the columns or the error


def format_of(name: str) -> str:
    """Return a file's format: jsonl, csv, tsv or parquet.

    Raises:
        UsageError: If the name does not end in one of `SUFFIXES`.
        DataError: If the file does not exist, or is a folder.
    """
    check_input(name)
    if name.lower().endswith((".json", ".json.gz")):
        raise DataError(f"{name}: rows must be one JSON object a line (.jsonl); try: jq -c '.[]' {name}")
    if not name.lower().endswith(SUFFIXES):
        raise UsageError(f"{name}: unknown format; the name must end in one of {', '.join(SUFFIXES)}")
    return name.lower().removesuffix(".gz").rpartition(".")[2]


def check_input(name: str) -> None:
    """Check that a path is a file or a pipe.

    Raises:
        DataError: If the path does not exist, or is a folder or a device.
    """
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        raise DataError(f"{name} does not exist; check the path") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {name}: {reason(error)}") from None
    if stat.S_ISDIR(mode):
        raise DataError(f"{name} is a folder; name a file in it")
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise DataError(f"{name} is a device; name a file or a pipe")


def files_in(name: str) -> list[Path]:
    """Return the files of a folder, or the file itself.

    Raises:
        DataError: If the path does not exist or cannot be read.
    """
    try:
        return sorted(Path(name).iterdir())
    except NotADirectoryError:
        return [Path(name)]
    except FileNotFoundError:
        raise DataError(f"{name} does not exist; check the path") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {name}: {reason(error)}") from None


def read_records(
    name: str, kind: str, fields: Mapping[str, str], *, aliases: bool = False
) -> Iterator[Record]:
    """Yield each record with its position: "line 12", or "row 12" in parquet.

    Args:
        name: A path, or "-" for standard input.
        kind: From `format_of`.
        fields: The column of each field whose column has another name.
        aliases: Whether columns with common other names count as fields; see `with_aliases`.

    Raises:
        DataError: If a required column is missing, or several columns can be the same field.
        OSError, EOFError, zlib.error: If the file is damaged.
    """
    if kind == "parquet":
        yield from _parquet_records(name, fields, aliases=aliases)
        return
    with _opened(name) as text:
        yield from text_records(name, kind, _lines(text), fields, aliases=aliases)


def text_records(
    name: str, kind: str, lines: Iterator[str], fields: Mapping[str, str], *, aliases: bool = False
) -> Iterator[Record]:
    """Yield each record of lines with its position.

    Args:
        name: The name of the text in error messages.
        kind: jsonl, csv or tsv.
        lines: The lines, with their ends.
        fields: As for `read_records`.
        aliases: As for `read_records`.

    Raises:
        DataError: As for `read_records`.
    """
    if kind == "jsonl":
        yield from _json_records(name, lines, fields, aliases=aliases)
    else:
        yield from _cell_records(name, kind, lines, fields, aliases=aliases)


@contextmanager
def _opened(name: str) -> Iterator[TextIO]:
    """Open a file as text, decompressing gzip; bytes that are not UTF-8 become lone surrogates."""
    stdin = name == "-"
    if stdin and sys.stdin is None:
        raise DataError("standard input is closed; pipe rows into the command, or give a file")
    raw = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer) if stdin else io.FileIO(name))
    try:
        packed = raw.peek(2)[:2] == b"\x1f\x8b"
        if name.lower().endswith(".gz") and not packed:
            raise DataError(f"{name} is not a gzip file; rename it or compress it again")
        data = gzip.GzipFile(fileobj=raw) if packed else raw
        if data.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise DataError(f"{name} is not UTF-8 but UTF-16; convert it with: iconv -f UTF-16 -t UTF-8")
        text = io.TextIOWrapper(data, encoding="utf-8-sig", errors="surrogateescape", newline="")
        try:
            yield text
        finally:
            text.detach()
    finally:
        raw.detach() if stdin else raw.close()  # leaves standard input open


def _lines(text: TextIO) -> Iterator[str]:
    """Yield lines, with a limit on their length: binary data may have no line ends."""
    while line := text.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE and not line.endswith(("\n", "\r")):
            raise OSError(f"a line has over {LONGEST_LINE:,} characters; check that this is a file of rows")
        yield line


def _json_records(
    name: str, lines: Iterator[str], fields: Mapping[str, str], *, aliases: bool
) -> Iterator[Record]:
    records = ((f"line {at}", parse_line(line)) for at, line in enumerate(lines, 1) if line.strip())
    for place, record in chain(_first_records(name, records, fields), records):
        if aliases and not isinstance(record, BadRow):
            _completed(name, record, fields)
            aliases = False
        yield place, record


def _first_records(name: str, records: Iterator[Record], fields: Mapping[str, str]) -> list[Record]:
    """Read records until each column in `fields` has occurred; raise DataError if one does not soon."""
    first: list[Record] = []
    columns: dict[str, None] = {}
    absent = list(fields.values())
    while absent and len(first) < LOOKED_AT and (found := next(records, None)):
        first.append(found)
        if not isinstance(found[1], BadRow):
            columns |= dict.fromkeys(found[1])
            entries = {
                f"{outer}.{key}" for outer, own in found[1].items() if isinstance(own, dict) for key in own
            }
            absent = [column for column in absent if column not in columns and column not in entries]
    if columns:
        _check_columns(name, list(columns), absent)
    return first


def parse_line(line: str) -> Mapping[str, object] | BadRow:
    """Return the object in a line of jsonl, or the reason why there is none."""
    if problem := _not_utf8(line):
        return problem
    try:
        record = json.loads(line.rstrip())
    except json.JSONDecodeError as error:
        return BadRow(f"not valid JSON: {error.msg} at character {error.pos + 1}")
    except (ValueError, RecursionError):
        return BadRow("not readable JSON: nested too deeply, or a number with too many digits")
    return record if isinstance(record, dict) else BadRow("not a JSON object; write one {...} per line")


def _not_utf8(text: str) -> BadRow | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return BadRow(f"not UTF-8 text at character {error.start + 1}")
    return None


def _cell_records(
    name: str, kind: str, lines: Iterator[str], fields: Mapping[str, str], *, aliases: bool
) -> Iterator[Record]:
    rows = tab_cells(lines) if kind == "tsv" else comma_cells(lines)
    place, header = next(rows, ("", []))
    if isinstance(header, BadRow):
        raise DataError(f"{name}: cannot read the column names: {header}")
    if not header:
        return
    if len(set(header)) < len(header) or _not_utf8("".join(header)):
        raise DataError(f"{name}: column names must be unique UTF-8 text; found: {_listed(header)}")
    if aliases:
        fields = _completed(name, dict.fromkeys(header), fields)
    _check_columns(name, header, [fields.get("candidate", "candidate"), *fields.values()])
    for place, cells in rows:
        yield place, cells if isinstance(cells, BadRow) else _from_cells(header, cells, fields)


def _from_cells(header: list[str], cells: list[str], fields: Mapping[str, str]) -> dict[str, object] | BadRow:
    if len(cells) != len(header):
        return BadRow(f"the row has {len(cells)} cells, but there are {len(header)} columns")
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


def _parquet_records(name: str, fields: Mapping[str, str], *, aliases: bool) -> Iterator[Record]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    try:
        with pq.ParquetFile(name) as file:
            columns = list(file.schema_arrow.names)
            if aliases:
                fields = _completed(name, dict.fromkeys(columns), fields)
            _check_columns(name, columns, [fields.get("candidate", "candidate"), *fields.values()])
            wanted = {*FIELDS, *fields.values()}
            used = [column for column in columns if column in wanted or column.startswith("scores.")]
            batches = file.iter_batches(batch_size=PARQUET_BATCH, columns=used)
            records = chain.from_iterable(_values(batch) for batch in batches)
            for number, record in enumerate(records, 1):
                yield f"row {number}", record
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise OSError(str(error)) from error


def _values(batch: "RecordBatch") -> Iterator[Mapping[str, object] | BadRow]:
    """Yield the rows of a batch; a row with a value that Python cannot represent becomes a BadRow."""
    try:
        yield from batch.to_pylist()
    except (ValueError, OverflowError):
        for at in range(batch.num_rows):
            try:
                yield batch.slice(at, 1).to_pylist()[0]
            except (ValueError, OverflowError) as error:
                yield BadRow(f"unreadable value: {error}")


def _completed(name: str, columns: Mapping[str, object], fields: Mapping[str, str]) -> Mapping[str, str]:
    """Return the fields with those in columns of common other names."""
    try:
        return with_aliases(columns, fields)
    except BadRow as error:
        raise DataError(f"{name}: {error}") from None


def _check_columns(name: str, columns: list[str], needed: Collection[str]) -> None:
    for column in needed:
        if column not in columns:
            hint = did_you_mean(column, columns)
            more = "" if column != "candidate" else "; name it with --fields candidate=COLUMN"
            raise DataError(f"{name} has no column {column!r}{hint}; there are: {_listed(columns)}{more}")


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
