"""Write output rows as csv and parquet, and read them back."""

import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from gistmeter.core.errors import MissingExtra, UsageError
from gistmeter.io import files
from gistmeter.io.output import COLUMNS

if TYPE_CHECKING:
    from pyarrow import Schema

SUFFIXES = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet")
BATCH = 1024
LARGEST_CELL = 2**31 - 1  # characters: the spans of a long text are one cell
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Prefixes that a spreadsheet interprets as a formula."""


def kind_of(name: str) -> str:
    """Return an output's format: jsonl, csv or parquet; jsonl for a pipe without a known suffix.

    Raises:
        UsageError: If the name does not end in one of `SUFFIXES`.
        MissingExtra: If the format is parquet and pyarrow is not installed.
    """
    if not name.lower().endswith(SUFFIXES):
        if files.is_stream(name):
            return "jsonl"
        raise UsageError(f"{name}: unknown format; the name must end in one of {', '.join(SUFFIXES)}")
    kind = name.lower().removesuffix(".gz").rpartition(".")[2]
    if kind == "parquet":
        try:
            import pyarrow  # noqa: F401 - fails before anything is scored
        except ImportError:
            raise MissingExtra("pyarrow", "parquet") from None
    return kind


def csv_lines(rows: Iterable[Mapping[str, object]], *, header: bool = False) -> bytes:
    r"""Return rows as csv; parts, spans and flags are JSON, a missing value is an empty cell.

    A cell that a spreadsheet would interpret as a formula gets a leading apostrophe.

    >>> row = dict.fromkeys(COLUMNS) | {"id": "=1+1", "metric": "chrf", "value": -0.5, "parts": {}}
    >>> csv_lines([row])
    b"'=1+1,chrf,-0.5,{},,,,,,\r\n"
    """
    text = io.StringIO()
    writer = csv.writer(text)
    if header:
        writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(row[column]) for column in COLUMNS])
    return text.getvalue().encode("utf-8", "backslashreplace")  # for lone surrogates


def _cell(value: object) -> object:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def convert(journal: Path, target: str, kind: str, *, packed: bool) -> None:
    """Convert the rows of a journal to csv or parquet, atomically and in bounded memory.

    Args:
        journal: JSON lines, compressed if `packed`.
        target: The file to write.
        kind: csv or parquet.
        packed: Whether the journal and the target are gzip-compressed.
    """
    beside = f"{target}.new"
    try:
        with files.opened(beside, "wb") as raw:
            if kind == "csv":
                _write_csv(_read(journal, packed=packed), raw, packed=packed)
            else:
                _write_parquet(_read(journal, packed=packed), raw)
            os.fsync(raw.fileno())
        files.rename(beside, target)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _read(journal: Path, *, packed: bool) -> Iterator[list[dict[str, Any]]]:
    with gzip.open(journal) if packed else journal.open("rb") as file:
        while lines := list(islice(file, BATCH)):
            yield [json.loads(line) for line in lines]


def _write_csv(batches: Iterable[list[dict[str, Any]]], raw: io.RawIOBase, *, packed: bool) -> None:
    def put(data: bytes) -> None:
        files.write_all(raw, packer.compress(data) if packer else data)

    packer = zlib.compressobj(6, zlib.DEFLATED, 31) if packed else None  # 31: gzip without a time stamp
    put(csv_lines([], header=True))
    for batch in batches:
        put(csv_lines(batch))
    if packer:
        files.write_all(raw, packer.flush())


def _write_parquet(batches: Iterable[list[dict[str, Any]]], raw: io.RawIOBase) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema()
    with pq.ParquetWriter(cast(BinaryIO, raw), schema) as writer:
        for batch in batches:
            rows = [_encodable(row) | {"parts": list(row["parts"].items())} for row in batch]
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema))


def _encodable(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose labels have no lone surrogates, which parquet cannot hold."""
    return {
        name: x.encode("utf-8", "backslashreplace").decode() if isinstance(x, str) else x
        for name, x in row.items()
    }


def _schema() -> "Schema":
    import pyarrow as pa

    text, number, whole = pa.string(), pa.float64(), pa.int64()
    span = {"side": text, "start": whole, "end": whole, "value": number, "weight": number, "note": text}
    flag = {"name": text, "side": text, "kept": whole, "total": whole}
    lists = {
        "value": number,
        "parts": pa.map_(text, number),
        "spans": pa.list_(pa.struct([*(span | {"index": whole}).items()])),
        "flags": pa.list_(pa.struct([*(flag | {"index": whole}).items()])),
    }
    return pa.schema([(column, lists.get(column, text)) for column in COLUMNS])


def read_output(name: str, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a complete output, with the fields that `score_of` reads."""
    if kind == "parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(name) as file:
            for batch in file.iter_batches(BATCH):
                for row in batch.to_pylist():
                    yield row | {"flags": [_given(flag) for flag in row["flags"]]}
        return
    csv.field_size_limit(LARGEST_CELL)
    with (
        gzip.open(name, "rt", encoding="utf-8", newline="")
        if name.lower().endswith(".gz")
        else open(name, encoding="utf-8", newline="") as text
    ):
        yield from map(json.loads, text) if kind == "jsonl" else map(_from_cells, csv.DictReader(text))


def _given(flag: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flag.items() if value is not None}


def from_cell(cell: str) -> str:
    """Return the text of a cell, without the apostrophe that keeps spreadsheets from reading a formula.

    >>> from_cell("'-1"), from_cell("'tis")
    ('-1', "'tis")
    """
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA) else cell


def _from_cells(row: dict[str, str]) -> dict[str, Any]:
    texts = {name: from_cell(cell) for name, cell in row.items()}
    known: dict[str, Any] = {name: text or None for name, text in texts.items()}
    return known | {"flags": json.loads(row["flags"]), "value": float(row["value"]) if row["value"] else None}
