"""`gistmeter score`."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path

from gistmeter.app.specs import build_metrics, note
from gistmeter.batch.local import Scored, score_rows
from gistmeter.batch.output import RowWriter, score_row
from gistmeter.batch.rows import parse_fields, read_rows
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.core.metric import Asking, Metric
from gistmeter.core.result import MetricResult
from gistmeter.core.row import Row
from gistmeter.report.table import pair_text, score_table

Labelled = list[tuple[str, Metric]]
BAD_DATA = 3


def run(arguments: argparse.Namespace) -> int:
    """Score rows or one pair; write rows, print tables."""
    one_pair = _pair(arguments)
    if (one_pair is None) == (arguments.input is None):
        raise UsageError("give rows with -i FILE, or one pair with --candidate FILE; not both")
    _refuse_to_overwrite(arguments)
    rows = _rows(arguments) if one_pair is None else [Row(one_pair)]
    # Opened before the models are loaded: a folder that cannot be written is better known at once.
    with RowWriter(arguments.output) if arguments.output else nullcontext() as writer:
        metrics = build_metrics(arguments)
        scored = _score(metrics, rows, writer, arguments)
    if arguments.output != "-":
        _print(metrics, scored, arguments, one_pair)
    return _exit_code(metrics, scored, arguments)


def _refuse_to_overwrite(arguments: argparse.Namespace) -> None:
    """Rows are written while others are still to be read: the two must not be one file."""
    paths = [Path(path) for path in (arguments.input, arguments.output) if path not in (None, "-")]
    if len(paths) == 2 and all(path.exists() for path in paths) and paths[0].samefile(paths[1]):
        raise UsageError(f"--output would replace the input, {paths[0]}; choose another name")


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
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8: byte {error.start}; convert it first") from error


def _score(
    metrics: Labelled, rows: Iterable[Row], writer: RowWriter | None, arguments: argparse.Namespace
) -> list[Scored]:
    """Score chunk by chunk; every chunk is on disk before the next one starts."""
    kept: list[Scored] = []
    try:
        chunks = score_rows(
            [metric for _, metric in metrics],
            _announced(rows, metrics, arguments),
            max_seconds_per_row=arguments.max_seconds_per_row,
        )
        for chunk in chunks:
            if writer is not None:
                writer.write(_lines(metrics, chunk))
            kept += chunk if len(kept) + len(chunk) <= KEPT_WHOLE else [_light(scored) for scored in chunk]
    except KeyboardInterrupt:
        where = f"; {len(kept)} rows are in {arguments.output}" if writer else ""
        note(arguments, f"stopped after {len(kept)} rows{where}")
        raise
    return kept


def _announced(rows: Iterable[Row], metrics: Labelled, arguments: argparse.Namespace) -> Iterator[Row]:
    """Say before a row is scored if a metric asks far more about it than about usual rows."""
    for row in rows:
        for label, metric in metrics:
            asked = metric.words_asked(row.example) if isinstance(metric, Asking) else 0
            if asked >= MANY_WORDS:
                limit = (
                    "" if arguments.max_seconds_per_row else "; --max-seconds-per-row N gives up on such rows"
                )
                note(
                    arguments,
                    f"gistmeter: row {row.example.id} is long: {label} asks its model for about {asked:,} "
                    f"words, some {asked // WORDS_A_SECOND:,} s on a processor core{limit}",
                )
        yield row


MANY_WORDS = 20_000
"""From here on a row is announced: usual ones have a few hundred."""
WORDS_A_SECOND = 1_000
"""What the shipped model answers on one core, roughly."""
KEPT_WHOLE = 1000


def _light(scored: Scored) -> Scored:
    """Drop what the summary does not need, so that millions of rows fit into memory."""
    row = scored.row
    example = replace(row.example, candidate="", source=None, references=())
    scores = tuple(replace(score, spans=(), parts={}) for score in scored.scores)
    return Scored(Row(example, problem=row.problem), scores)


def _lines(metrics: Labelled, chunk: list[Scored]) -> list[dict[str, object]]:
    return [
        score_row(label, score, metric.signature, scored.row.example)
        for scored in chunk
        for (label, metric), score in zip(metrics, scored.scores, strict=True)
    ]


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
    """Return 3 where rows could not be read, or a metric has no value at all."""
    if not scored:
        raise DataError("there are no rows to score")
    unread = [one.row.problem for one in scored if one.row.problem is not None]
    if unread:
        note(
            arguments, f"gistmeter: {len(unread)} of {len(scored)} rows could not be read; first: {unread[0]}"
        )
    empty = [
        (label, scored[0].scores[at].problem)
        for at, (label, _) in enumerate(metrics)
        if all(one.scores[at].problem is not None for one in scored)
    ]
    for label, problem in empty:
        note(arguments, f"gistmeter: {label} has no value for any row; first problem: {problem}")
    return BAD_DATA if unread or empty else 0
