"""Where scores go: a file that appears when it is whole, or a stream that gets every chunk at once."""

import csv
import gzip
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
    """Takes scores in input order."""

    @property
    def safe(self) -> int:
        """How many rows a run that is stopped now leaves behind for --resume."""

    def begin(self, metrics: Labelled) -> None:
        """Say what makes the scores."""

    def done(self, rows: Iterator[Row]) -> Iterator[list[Scored]]:
        """Take from the rows those that an earlier run has scored, and yield their scores without spans."""

    def write(self, chunk: Sequence[Scored]) -> None:
        """Take a chunk; it is safe when this returns."""

    def finish(self) -> None:
        """Make the output whole."""


@dataclass(frozen=True, slots=True)
class Writing:
    """How an output is written.

    Args:
        spans: How many spans of a score; None for all.
        resume: Go on with what a run before has left.
        overwrite: Replace what is there.
        inputs: Files that are read, which no output may replace.
    """

    spans: int | None = None
    resume: bool = False
    overwrite: bool = False
    inputs: Sequence[str | None] = ()


class Nowhere:
    """Takes scores and writes nothing."""

    @property
    def safe(self) -> int:
        """None of them."""
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
    """Writes every chunk as it comes: to standard output, a pipe or a device."""

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
            data = gzip.compress(data, mtime=0)  # a member of its own: readable after each
        with files.failing_as("standard output" if self._file is None else self._name):
            if self._file is None:
                _print(data)
            else:
                files.write_all(self._file, data)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class _File(Nowhere):
    """Writes chunks into a journal, which becomes the file."""

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
                    f"rows {first} to {first + chunk.rows - 1} are not those that {self._journal.part} was "
                    "made from; give the same input, or start again with --overwrite"
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
    """A file that an earlier run has finished: nothing is left to score."""

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
        raise UsageError(f"{self._name} is whole, but not of these rows and metrics; --overwrite replaces it")

    def _are_of(self, row: Row, records: Sequence[dict[str, Any]]) -> bool:
        wanted = [(row.example.id, label, metric.signature.text) for label, metric in self._metrics]
        return [(one["id"], one["metric"], one["signature"]) for one in records] == wanted


@contextmanager
def reading_as(name: str) -> Iterator[None]:
    """Turn what a damaged file raises into one line."""
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, TypeError, csv.Error, zlib.error) as error:
        raise DataError(f"cannot read {name}, which --resume found: {files.said(error)}") from error


@contextmanager
def open_sink(name: str | None, writing: Writing) -> Iterator[Sink]:
    """Open an output: None for nowhere, "-" for standard output, or a file.

    No file that is there is touched before `finish`.

    Raises:
        UsageError: If the format is unknown, or the file is an input, is there already or is being written.
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
        try:
            whole = writing.resume and not journal.chunks and files.is_filled(name)
            yield _Whole(name, kind) if whole else _File(name, kind, journal, writing.spans)
        finally:
            journal.close()


def _stream(name: str, kind: str, writing: Writing) -> Iterator[Sink]:
    if writing.resume:
        raise UsageError("--resume needs a file; what went into a pipe cannot be read again")
    if kind == "parquet":
        raise UsageError("parquet cannot be written into a pipe; write jsonl")
    with files.failing_as(name):
        stream = _Stream(name, kind, writing.spans)
    try:
        yield stream
    finally:
        stream.close()


def _check_free(name: str, journal: Journal, writing: Writing) -> None:
    """Refuse what would be lost; the flags say what is meant."""
    if writing.overwrite:
        journal.start_over()
    elif writing.resume:
        return
    elif journal.chunks:
        raise UsageError(
            f"{journal.part} holds {journal.rows} rows of a run that was stopped; "
            "--resume goes on after them, --overwrite starts again"
        )
    elif files.is_filled(name):
        raise UsageError(f"{name} is there already; --overwrite replaces it")


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
    """Write to standard output as UTF-8, whatever the terminal's encoding is called."""
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(data.decode())
    else:
        stream.write(data)
    sys.stdout.flush()
