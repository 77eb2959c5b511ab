"""Scores rows chunk by chunk on this machine."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gistmeter.core.deadline import OverTime, deadline
from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.io.scored import Scored

SHARE = 50_000
"""Characters of rows that are scored together where each has a limit of time: a second or two of work."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much goes through a metric at once; by the law it changes no score, save its last digits.

    Rows and characters cut the same input in the same places every time, so that the same input makes the
    same bytes. Only where a chunk takes longer than `seconds` does the clock cut the following ones smaller.

    Args:
        rows: At most; enough for rows that share a document to share its encoding.
        characters: At most, unless one row alone has more.
        seconds: What a chunk may take before the next ones are half as large.
    """

    rows: int = 512
    characters: int = 200_000
    seconds: float = 60.0

    def halved(self) -> "Size":
        """Return half of it."""
        return replace(self, rows=max(1, self.rows // 2), characters=max(1, self.characters // 2))


def score_rows(
    metrics: Sequence[Metric],
    rows: Iterable[Row],
    *,
    size: Size | None = None,
    max_seconds_per_row: float | None = None,
) -> Iterator[list[Scored]]:
    """Score rows with several metrics, a chunk at a time, in input order.

    Args:
        metrics: What to score with.
        rows: From `read_rows`; read only one row further than the chunk goes.
        size: Of a chunk.
        max_seconds_per_row: A row that takes a metric longer has a problem in place of its score; None for
            no limit. It is checked between the batches of a model: one that runs is not interrupted, and
            metrics without a model know no limit.

    Yields:
        The rows of one chunk. A row that could not be read has an undefined score with its problem.
    """
    size = size or Size()
    remaining, ahead = iter(rows), None
    while True:
        part, ahead = _chunk(remaining, ahead, size)
        if not part:
            return
        start = time.monotonic()
        yield score_chunk(metrics, part, max_seconds_per_row)
        if time.monotonic() - start > size.seconds:
            size = size.halved()


def chunks(rows: Iterable[Row], size: Size) -> Iterator[list[Row]]:
    """Cut rows into chunks of one size; read only one row further than a chunk goes."""
    remaining = iter(rows)
    part, ahead = _chunk(remaining, None, size)
    while part:
        yield part
        part, ahead = _chunk(remaining, ahead, size)


def score_chunk(
    metrics: Sequence[Metric], rows: list[Row], max_seconds_per_row: float | None = None
) -> list[Scored]:
    """Score rows together with several metrics."""
    columns = [_column(metric, rows, max_seconds_per_row) for metric in metrics]
    return [Scored(row, scores) for row, scores in zip(rows, zip(*columns, strict=True), strict=True)]


def _chunk(rows: Iterator[Row], ahead: Row | None, size: Size) -> tuple[list[Row], Row | None]:
    """Return the next chunk, and the row after it if it had to be read to know that it does not fit."""
    part: list[Row] = []
    length = 0
    while len(part) < size.rows:
        row = ahead or next(rows, None)
        ahead = None
        if row is None:
            break
        length += sum(len(text) for _, _, text in row.example.texts())
        if part and length > size.characters:
            return part, row
        part.append(row)
    return part, None


def _column(metric: Metric, rows: list[Row], seconds: float | None) -> list[Score]:
    examples = [row.example for row in rows if row.problem is None]
    if seconds is None:
        scores = iter(metric.score(examples))
    else:
        scores = (score for part in _shares(examples) for score in _in_time(metric, part, seconds))
    return [
        next(scores) if row.problem is None else Score.undefined(row.example.id, row.problem) for row in rows
    ]


def _shares(examples: Sequence[Example]) -> Iterator[list[Example]]:
    """Cut examples into runs of few characters; a long one is alone."""
    run: list[Example] = []
    size = 0
    for example in examples:
        own = sum(len(text) for _, _, text in example.texts())
        if run and size + own > SHARE:
            yield run
            run, size = [], 0
        run.append(example)
        size += own
    if run:
        yield run


def _in_time(metric: Metric, examples: list[Example], seconds: float) -> list[Score]:
    """Score examples together if that takes less than one of them may, else one by one."""
    try:
        with deadline(seconds):
            return metric.score(examples)
    except OverTime:
        if len(examples) > 1:
            return [score for example in examples for score in _in_time(metric, [example], seconds)]
        return [
            Score.undefined(examples[0].id, f"took over {seconds:g} s, the limit of --max-seconds-per-row")
        ]
