"""Scores rows chunk by chunk on this machine."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score

# Large enough for rows that share a document to share its encoding, small enough to lose little.
CHUNK = 512


@dataclass(frozen=True, slots=True)
class Scored:
    """One row and what each metric says of it.

    Args:
        row: As it was read.
        scores: One a metric, in the metrics' order.
    """

    row: Row
    scores: tuple[Score, ...]


def score_rows(
    metrics: Sequence[Metric], rows: Iterable[Row], *, chunk: int = CHUNK
) -> Iterator[list[Scored]]:
    """Score rows with several metrics, a chunk at a time, in input order.

    Args:
        metrics: What to score with.
        rows: From `read_rows`; read only as far as the chunk goes.
        chunk: How many rows go through a metric at once. By the law it changes no score.

    Yields:
        The rows of one chunk. A row that could not be read has an undefined score with its problem.
    """
    remaining = iter(rows)
    while part := list(islice(remaining, chunk)):
        columns = [_column(metric, part) for metric in metrics]
        yield [Scored(row, scores) for row, scores in zip(part, zip(*columns, strict=True), strict=True)]


def _column(metric: Metric, rows: list[Row]) -> list[Score]:
    scores = iter(metric.score([row.example for row in rows if row.problem is None]))
    return [
        next(scores) if row.problem is None else Score.undefined(row.example.id, row.problem) for row in rows
    ]
