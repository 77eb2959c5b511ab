"""The command `gistmeter score`."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from gistmeter.app.specs import build_metrics, note
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.core.metric import Asking
from gistmeter.core.result import MetricResult
from gistmeter.core.row import Row
from gistmeter.engine.local import score_rows
from gistmeter.engine.progress import rows_bar
from gistmeter.io.cache import ScoreCache
from gistmeter.io.formats import check_input
from gistmeter.io.kept import Kept
from gistmeter.io.output import parse_spans
from gistmeter.io.rows import parse_fields, read_rows
from gistmeter.io.scored import Labelled, Scored
from gistmeter.io.sinks import Sink, Writing, open_sink
from gistmeter.report.table import pair_text, score_table

BAD_DATA = 3
LONGEST_TEXT = 2**26


def run(arguments: argparse.Namespace) -> int:
    """Score rows or one pair of texts; write the scores, print a table."""
    one_pair = _pair(arguments)
    if (one_pair is None) == (arguments.input is None):
        raise UsageError("give either rows with -i FILE, or one pair with --candidate FILE")
    if arguments.resume and not arguments.output:
        raise UsageError("--resume needs the output of the interrupted run: -o FILE")
    rows = iter(_rows(arguments) if one_pair is None else [Row(one_pair)])
    # Opened before models are loaded, so that an unwritable output fails at once.
    with open_sink(arguments.output, _writing(arguments)) as sink:
        metrics = _kept(build_metrics(arguments), arguments)
        scored = _score(metrics, rows, sink, arguments)
        if not scored:
            raise DataError("the input has no rows")
        sink.finish()
    if arguments.output != "-":
        _print(metrics, scored, arguments, one_pair)
    return _exit_code(metrics, scored, arguments)


def _kept(metrics: Labelled, arguments: argparse.Namespace) -> Labelled:
    """Return the metrics, wrapped to use the cache if --cache is set."""
    if not arguments.cache:
        return metrics
    cache = ScoreCache(
        arguments.cache, megabytes=arguments.cache_size, note=lambda text: note(arguments, text)
    )
    return [(label, Kept(metric, cache)) for label, metric in metrics]


def _writing(arguments: argparse.Namespace) -> Writing:
    return Writing(
        spans=parse_spans(arguments.spans),
        resume=arguments.resume,
        overwrite=arguments.overwrite,
        inputs=[arguments.input, arguments.candidate, arguments.source, *arguments.reference],
    )


def _rows(arguments: argparse.Namespace) -> Iterable[Row]:
    return islice(read_rows(arguments.input, fields=parse_fields(arguments.fields)), arguments.limit)


def _pair(arguments: argparse.Namespace) -> Example | None:
    """Return the one pair on the command line, or None if there is none."""
    candidate = _text(arguments.candidate, arguments.candidate_text, "candidate")
    source = _text(arguments.source, arguments.source_text, "source")
    references = [_read(path) for path in arguments.reference] + arguments.reference_text
    if candidate is None:
        if source is not None or references:
            raise UsageError("one pair needs a candidate: --candidate FILE or --candidate-text TEXT")
        return None
    return Example("1", candidate, source, tuple(references))


def _text(path: str | None, text: str | None, side: str) -> str | None:
    if path is not None and text is not None:
        raise UsageError(f"give --{side} or --{side}-text, not both")
    return _read(path) if path is not None else text


def _read(path: str) -> str:
    """Return the text of a file; a pipe is read to its end."""
    check_input(path)
    try:
        with open(path, "rb") as file:
            data = file.read(LONGEST_TEXT + 1)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > LONGEST_TEXT:
        raise DataError(f"{path} has more than {LONGEST_TEXT:,} bytes; give a file with one text")
    try:
        return data.decode().strip()
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text (byte {error.start}); convert it first") from error


def _score(metrics: Labelled, rows: Iterator[Row], sink: Sink, arguments: argparse.Namespace) -> list[Scored]:
    """Score rows chunk by chunk; each chunk is saved before the next one starts."""
    kept: list[Scored] = []
    try:
        sink.begin(metrics)
        for chunk in sink.done(rows):
            kept += map(_light, chunk)
        if kept:
            note(arguments, f"gistmeter: resuming after {len(kept)} rows")
        chunks = score_rows(
            [metric for _, metric in metrics],
            _announced(rows, metrics, arguments),
            max_seconds_per_row=arguments.max_seconds_per_row,
        )
        with rows_bar(None, label="score", shown=not arguments.quiet) as bar:
            for chunk in chunks:
                sink.write(chunk)
                kept += chunk if len(kept) + len(chunk) <= KEPT_WHOLE else map(_light, chunk)
                bar.update(len(chunk))
    except KeyboardInterrupt:
        safe = f"; {sink.safe} rows are in {arguments.output}.part, continue with --resume"
        note(arguments, f"gistmeter: stopped after {len(kept)} rows{safe if sink.safe else ''}")
        raise
    return kept


def _announced(rows: Iterable[Row], metrics: Labelled, arguments: argparse.Namespace) -> Iterator[Row]:
    """Log a note before a row that takes a metric far longer than usual."""
    for row in rows:
        for label, metric in metrics:
            asked = metric.words_asked(row.example) if isinstance(metric, Asking) else 0
            if asked >= MANY_WORDS:
                limit = (
                    "" if arguments.max_seconds_per_row else "; to skip such rows: --max-seconds-per-row N"
                )
                note(
                    arguments,
                    f"gistmeter: row {row.example.id} is long: {label} predicts about {asked:,} words, "
                    f"which takes about {asked // WORDS_A_SECOND:,} s on one CPU core{limit}",
                )
        yield row


MANY_WORDS = 20_000
"""Predicted words from which a row is reported as long; typical rows have a few hundred."""
WORDS_A_SECOND = 1_000
"""Words per second that the shipped model predicts on one CPU core, approximately."""
KEPT_WHOLE = 1000


def _light(scored: Scored) -> Scored:
    """Drop the texts, spans and components, so that millions of rows fit into memory."""
    row = scored.row
    example = replace(row.example, candidate="", source=None, references=())
    scores = tuple(replace(score, spans=(), parts={}) for score in scored.scores)
    return Scored(Row(example, problem=row.problem), scores)


def _print(
    metrics: Labelled, scored: list[Scored], arguments: argparse.Namespace, pair: Example | None
) -> None:
    if pair is not None:
        scores = zip(metrics, scored[0].scores, strict=True)
        text = "\n\n".join(pair_text(label, score, pair) for (label, _), score in scores)
    else:
        documents = [one.row.example.doc_id for one in scored]
        columns = zip(*(one.scores for one in scored), strict=True)
        entries = [
            (label, MetricResult.of(metric.signature, column, documents, seed=arguments.seed))
            for (label, metric), column in zip(metrics, columns, strict=False)
        ]
        text = score_table(entries)
    sys.stdout.write(text.rstrip("\n") + "\n")


def _exit_code(metrics: Labelled, scored: list[Scored], arguments: argparse.Namespace) -> int:
    """Return 3 if a row is unreadable, or a metric has no value for any row; otherwise 0."""
    unread = [one.row.problem for one in scored if one.row.problem is not None]
    if unread:
        note(
            arguments,
            f"gistmeter: {len(unread)} of {len(scored)} rows are unreadable; the first: {unread[0]}",
        )
    empty = [
        (label, scored[0].scores[at].problem)
        for at, (label, _) in enumerate(metrics)
        if all(one.scores[at].problem is not None for one in scored)
    ]
    for label, problem in empty:
        note(arguments, f"gistmeter: {label} has no value for any row; the first problem: {problem}")
    return BAD_DATA if unread or empty else 0
