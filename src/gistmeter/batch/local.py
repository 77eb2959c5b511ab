"""Scores rows chunk by chunk on this machine."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from gistmeter.core.deadline import OverTime, deadline
from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score

# Large enough for rows that share a document to share its encoding, small enough to lose little.
CHUNK = 512
SHARE = 50_000
"""Characters of rows that are scored together where each has a limit of time: a second or two of work."""


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
    metrics: Sequence[Metric],
    rows: Iterable[Row],
    *,
    chunk: int = CHUNK,
    max_seconds_per_row: float | None = None,
) -> Iterator[list[Scored]]:
    """Score rows with several metrics, a chunk at a time, in input order.

    Args:
        metrics: What to score with.
        rows: From `read_rows`; read only as far as the chunk goes.
        chunk: How many rows go through a metric at once. By the law it changes no score.
        max_seconds_per_row: A row that takes a metric longer has a problem in place of its score; None for
            no limit. It is checked between the batches of a model: one that runs is not interrupted, and
            metrics without a model know no limit.

    Yields:
        The rows of one chunk. A row that could not be read has an undefined score with its problem.
    """
    remaining = iter(rows)
    while part := list(islice(remaining, chunk)):
        columns = [_column(metric, part, max_seconds_per_row) for metric in metrics]
        yield [Scored(row, scores) for row, scores in zip(part, zip(*columns, strict=True), strict=True)]


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
