"""Score rows in chunks on the local machine."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gistmeter.core.deadline import OverTime, deadline
from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.engine.progress import rows_bar
from gistmeter.io.scored import Scored

SHARE = 50_000
"""Characters scored in one call if rows have a time limit: about one or two seconds of work."""


@dataclass(frozen=True, slots=True)
class Size:
    """The maximum size of a chunk, the rows that a metric scores in one call.

    The chunk size changes scores by rounding only. The limits on rows and characters always divide the same
    input in the same way, so that runs are reproducible to the byte. If a chunk takes longer than `seconds`,
    the following chunks are smaller, which depends on the machine.

    Args:
        rows: Maximum number of rows; large enough for rows of one document to share its encoding.
        characters: Maximum number of characters; a single row may exceed it.
        seconds: If a chunk takes longer, the size of the following chunks is halved.
    """

    rows: int = 512
    characters: int = 200_000
    seconds: float = 60.0

    def halved(self) -> "Size":
        """Return a size with half the rows and characters."""
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
        metrics: The metrics to run.
        rows: The rows from `read_rows`; at most one row is read ahead of the current chunk.
        size: The maximum size of a chunk.
        max_seconds_per_row: The time limit per row and metric; a row that exceeds it gets a problem instead
            of a value. None for no limit. The limit is checked between batches of a model: it does not
            interrupt a running batch, and does not apply to metrics without a model.

    Yields:
        The rows of one chunk with their scores. A row that could not be read has an undefined score with
        its problem.
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


def score_column(metric: Metric, rows: Sequence[Row], *, label: str, progress: bool) -> list[Score]:
    """Score rows with one metric, chunk by chunk, with a progress bar."""
    column: list[Score] = []
    with rows_bar(len(rows), label=label, shown=progress) as bar:
        for chunk in score_rows([metric], rows):
            column += [scored.scores[0] for scored in chunk]
            bar.update(len(chunk))
    return column


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
    """Return the next chunk, and the row after it if that row was read and does not fit."""
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
    """Split examples into runs of at most `SHARE` characters; a longer example is a run of its own."""
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
    """Score examples in one call; if it exceeds the time limit of one row, score them one by one."""
    try:
        with deadline(seconds):
            return metric.score(examples)
    except OverTime:
        if len(examples) > 1:
            return [score for example in examples for score in _in_time(metric, [example], seconds)]
        return [
            Score.undefined(examples[0].id, f"took over {seconds:g} s, the limit of --max-seconds-per-row")
        ]
