"""Write scores: to a file that appears when it is complete, or to a stream chunk by chunk."""

import csv
import gzip
import io
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol

from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.row import Row
from gistmeter.core.score_row import score_row
from gistmeter.io import files, tables
from gistmeter.io.journal import Journal
from gistmeter.io.output import json_lines, score_of, worst_spans
from gistmeter.io.scored import Labelled, Scored, digest_of


class Sink(Protocol):
    """Writes scores in input order."""

    @property
    def safe(self) -> int:
        """The number of rows that --resume can continue after if the run stops now."""

    def begin(self, metrics: Labelled) -> None:
        """Start writing scores of these metrics."""

    def done(self, rows: Iterator[Row]) -> Iterator[list[Scored]]:
        """Consume the rows that an earlier run scored, and yield their scores without spans."""

    def write(self, chunk: Sequence[Scored]) -> None:
        """Write a chunk; it is saved when this returns."""

    def finish(self) -> None:
        """Complete the output."""


@dataclass(frozen=True, slots=True)
class Writing:
    """Options of an output.

    Args:
        spans: The maximum number of spans per score; None for all.
        resume: Whether to continue an interrupted run.
        overwrite: Whether to replace an existing output.
        inputs: The input files, which the output must not replace.
    """

    spans: int | None = None
    resume: bool = False
    overwrite: bool = False
    inputs: Sequence[str | None] = ()


class Nowhere:
    """Discards scores."""

    @property
    def safe(self) -> int:
        """Always 0."""
        return 0

    def begin(self, metrics: Labelled) -> None:
        """Do nothing."""

    def done(self, rows: Iterator[Row]) -> Iterator[list[Scored]]:
        """Yield nothing."""
        return iter(())

    def write(self, chunk: Sequence[Scored]) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""


class _Stream(Nowhere):
    """Writes each chunk immediately, to standard output, a pipe or a device."""

    def __init__(self, name: str, kind: str, spans: int | None) -> None:
        self._name, self._kind, self._spans = name, kind, spans
        self._metrics: Labelled = ()
        self._file = None if name == "-" else files.opened(name, "wb")

    def begin(self, metrics: Labelled) -> None:
        self._metrics = metrics
        if self._kind == "csv":
            self._put(tables.csv_lines([], header=True))

    def write(self, chunk: Sequence[Scored]) -> None:
        rows = _rows(self._metrics, chunk, self._spans)
        self._put(tables.csv_lines(rows) if self._kind == "csv" else json_lines(rows))

    def _put(self, data: bytes) -> None:
        if self._name.endswith(".gz"):
            data = gzip.compress(data, mtime=0)  # a complete gzip member per chunk
        with files.failing_as("standard output" if self._file is None else self._name):
            if self._file is None:
                _print(data)
            else:
                files.write_all(self._file, data)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class _File(Nowhere):
    """Writes chunks to a journal, which becomes the output file."""

    def __init__(self, name: str, kind: str, journal: Journal, spans: int | None) -> None:
        self._name, self._kind, self._journal, self._spans = name, kind, journal, spans
        self._metrics: Labelled = ()
        self._packed = name.lower().endswith(".gz")

    @property
    def safe(self) -> int:
        return self._journal.rows

    def begin(self, metrics: Labelled) -> None:
        self._metrics = metrics
        signatures = [[label, metric.signature.text] for label, metric in metrics]
        self._journal.begin({"spans": self._spans, "metrics": signatures})

    def done(self, rows: Iterator[Row]) -> Iterator[list[Scored]]:
        first = 1
        for chunk, data in self._journal.read():
            part = list(islice(rows, chunk.rows))
            if digest_of(part) != chunk.digest:
                raise DataError(
                    f"rows {first} to {first + chunk.rows - 1} differ from the rows in "
                    f"{self._journal.part}; use the same input, or start again with --overwrite"
                )
            lines = (gzip.decompress(data) if self._packed else data).split(b"\n")
            scores = iter(score_of(json.loads(line)) for line in lines if line)
            yield [Scored(row, tuple(islice(scores, len(self._metrics)))) for row in part]
            first += chunk.rows

    def write(self, chunk: Sequence[Scored]) -> None:
        data = json_lines(_rows(self._metrics, chunk, self._spans))
        data = gzip.compress(data, mtime=0) if self._packed else data
        self._journal.append(len(chunk), digest_of([scored.row for scored in chunk]), data)

    def finish(self) -> None:
        if self._kind == "jsonl":
            self._journal.become(self._name)
            return
        with files.failing_as(self._name, f"; its {self._journal.rows} rows are in {self._journal.part}"):
            tables.convert(self._journal.part, os.path.realpath(self._name), self._kind, packed=self._packed)
        self._journal.remove()


class _Whole(Nowhere):
    """An output that an earlier run completed, with nothing left to score."""

    def __init__(self, name: str, kind: str) -> None:
        self._name, self._kind = name, kind
        self._metrics: Labelled = ()

    def begin(self, metrics: Labelled) -> None:
        self._metrics = metrics

    def done(self, rows: Iterator[Row]) -> Iterator[list[Scored]]:
        with reading_as(self._name):
            found = tables.read_output(self._name, self._kind)
            for row in rows:
                records = list(islice(found, len(self._metrics)))
                if not self._are_of(row, records):
                    break
                yield [Scored(row, tuple(map(score_of, records)))]
            else:
                if next(found, None) is None:
                    return
        raise UsageError(
            f"{self._name} is complete, but has other rows or metrics; replace it with --overwrite"
        )

    def _are_of(self, row: Row, records: Sequence[dict[str, Any]]) -> bool:
        wanted = [(row.example.id, label, metric.signature.text) for label, metric in self._metrics]
        return [(one["id"], one["metric"], one["signature"]) for one in records] == wanted


@contextmanager
def reading_as(name: str) -> Iterator[None]:
    """Convert the errors of a damaged file to a DataError."""
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, TypeError, csv.Error, zlib.error) as error:
        raise DataError(f"cannot resume {name}: {files.reason(error)}") from error


@contextmanager
def open_sink(name: str | None, writing: Writing) -> Iterator[Sink]:
    """Open an output: a file, "-" for standard output, or None to discard scores.

    An existing file stays unchanged until `finish`.

    Raises:
        UsageError: If the format is unknown, or the file is an input, already exists, or is being written.
        DataError: If the file cannot be written.
    """
    if name is None:
        yield Nowhere()
        return
    kind = "jsonl" if name == "-" else tables.kind_of(name)
    if name != "-":
        files.check_output(name, inputs=writing.inputs)
    if name == "-" or files.is_stream(name):
        yield from _stream(name, kind, writing)
        return
    with files.locked(name):
        journal = Journal(name)
        _check_free(name, journal, writing)
        stopped = False
        try:
            whole = writing.resume and not journal.is_begun and files.is_filled(name)
            yield _Whole(name, kind) if whole else _File(name, kind, journal, writing.spans)
        except KeyboardInterrupt:
            stopped = True
            raise
        finally:
            journal.close(stopped=stopped)


def _stream(name: str, kind: str, writing: Writing) -> Iterator[Sink]:
    if writing.resume:
        raise UsageError("--resume needs a file as output; a pipe cannot be resumed")
    if kind == "parquet":
        raise UsageError("parquet cannot be written to a pipe; write jsonl")
    with files.failing_as(name):
        stream = _Stream(name, kind, writing.spans)
    try:
        yield stream
    finally:
        stream.close()


def _check_free(name: str, journal: Journal, writing: Writing) -> None:
    """Raise UsageError if the run would lose existing rows and neither flag is set."""
    if writing.overwrite:
        journal.start_over()
    elif writing.resume:
        return
    elif journal.chunks:
        raise UsageError(
            f"{journal.part} has {journal.rows} rows of an interrupted run; "
            "continue it with --resume, or start again with --overwrite"
        )
    elif files.is_filled(name):
        raise UsageError(f"{name} already exists; replace it with --overwrite")


def _rows(metrics: Labelled, chunk: Iterable[Scored], spans: int | None) -> list[dict[str, object]]:
    return [
        score_row(
            label,
            replace(score, spans=tuple(worst_spans(score.spans, spans))),
            metric.signature,
            scored.row.example,
        )
        for scored in chunk
        for (label, metric), score in zip(metrics, scored.scores, strict=True)
    ]


def _print(data: bytes) -> None:
    """Write to standard output as UTF-8, independent of the terminal's encoding."""
    sys.stdout.flush()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.buffer.write(data)
    else:  # a test or a notebook may replace the stream
        sys.stdout.write(data.decode())
    sys.stdout.flush()
