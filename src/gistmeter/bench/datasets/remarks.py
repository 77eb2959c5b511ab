"""What a reader of a benchmark should know of its rows, before any metric is asked."""

from collections import Counter
from collections.abc import Iterator, Sequence

from gistmeter.bench.datasets.dataset import Dataset
from gistmeter.core.row import Row

ROUNDING = 1e-6
"""Means of votes as published are rounded, and may lie this far outside their scale."""


def remarks(dataset: Dataset, rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each thing about a task's rows that its figures do not show.

    Args:
        dataset: What is known of the rows.
        rows: With human scores.
    """
    if dataset.superseded_by:
        yield f"superseded by {dataset.superseded_by}"
    twice = [id for id, count in Counter(row.example.id for row in rows).items() if count > 1]
    if twice:
        yield f"{len(twice)} ids are of more than one row, and each row counts; the first: {twice[0]}"
    for name in dict.fromkeys(name for row in rows for name in row.scores):
        dimension = dataset.dimension(name)
        scores = [row.scores[name] for row in rows if name in row.scores]
        if len(scores) < len(rows):
            yield f"{len(rows) - len(scores)} of {len(rows)} rows have no number for {name}"
        low, high = dimension.low - ROUNDING, dimension.high + ROUNDING
        outside = [score for score in scores if not low <= score <= high]
        if outside:
            scale = f"{dimension.low:g} to {dimension.high:g}"
            yield f"{len(outside)} scores for {name} are outside its scale, {scale}: {outside[0]:g}, for one"
        if dimension.orientation < 0:
            yield f"less {name} is better: a good metric correlates negatively with it"
