"""Warn about properties of a data set's rows that affect benchmark results."""

from collections import Counter
from collections.abc import Iterator, Sequence

from gistmeter.bench.datasets.dataset import Dataset
from gistmeter.core.row import Row

ROUNDING = 1e-6
"""Tolerance for published means, which are rounded and may lie slightly outside their scale."""


def remarks(dataset: Dataset, rows: Sequence[Row]) -> Iterator[str]:
    """Yield one line per remarkable property of a data set's rows.

    Args:
        dataset: Declaration of the data set.
        rows: Rows with human scores.
    """
    if dataset.superseded_by:
        yield f"superseded; use {dataset.superseded_by} instead"
    twice = [id for id, count in Counter(row.example.id for row in rows).items() if count > 1]
    if twice:
        yield f"{len(twice)} ids occur in more than one row, and each row counts; the first: {twice[0]}"
    for name in dict.fromkeys(name for row in rows for name in row.scores):
        dimension = dataset.dimension(name)
        scores = [row.scores[name] for row in rows if name in row.scores]
        if len(scores) < len(rows):
            yield f"{len(rows) - len(scores)} of {len(rows)} rows have no score for {name}"
        low, high = dimension.low - ROUNDING, dimension.high + ROUNDING
        outside = [score for score in scores if not low <= score <= high]
        if outside:
            scale = f"{dimension.low:g} to {dimension.high:g}"
            yield f"{len(outside)} scores for {name} are outside its scale, {scale}; first: {outside[0]:g}"
        if dimension.orientation < 0:
            yield f"lower {name} is better, so a good metric correlates negatively with it"
