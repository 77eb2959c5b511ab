"""Score the rows of a data set and correlate the scores with human judgements."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from gistmeter.bench.stats.correlate import benchmark_row, correlate
from gistmeter.core.levels import Level
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one metric on one data set.

    Args:
        rows: Correlations, in the format of `gistmeter benchmark --json`.
        seconds: Scoring time, without model loading.
        values: Metric value of each row; NaN if undefined.
    """

    rows: list[dict[str, object]]
    seconds: float
    values: NDArray[np.float64]


def benchmark(task: str, label: str, metric: Metric, rows: Sequence[Row], *, seed: int = 0) -> Result:
    """Score rows with a metric, and correlate its value and components with human judgements.

    Args:
        task: Name of the data set.
        label: Name of the metric.
        metric: Metric that scores the rows.
        rows: Rows with human scores.
        seed: Seed of the bootstrap.
    """
    start = time.perf_counter()
    scores = metric.score([row.example for row in rows])
    seconds = time.perf_counter() - start
    figures = correlations(task, label, rows, scores, signature=metric.signature.text, seed=seed)
    return Result(figures, seconds, np.array([score.value for score in scores]))


def correlations(
    task: str, label: str, rows: Sequence[Row], scores: Sequence[Score], *, signature: str, seed: int = 0
) -> list[dict[str, object]]:
    """Correlate the value and the components of scores with every human dimension, at every level.

    Args:
        task: Name of the data set.
        label: Name of the metric.
        rows: Rows with human scores.
        scores: One score per row.
        signature: Signature of the metric, as text.
        seed: Seed of the bootstrap.

    Returns:
        Correlations, in the format of `gistmeter benchmark --json`.
    """
    parts = list(dict.fromkeys(name for score in scores for name in score.parts))
    columns = {"value": np.array([score.value for score in scores])}
    columns |= {name: np.array([score.parts.get(name, np.nan) for score in scores]) for name in parts}
    documents = [row.example.doc_id for row in rows]
    systems = [row.example.system for row in rows]
    figures = []
    for dimension in dict.fromkeys(name for row in rows for name in row.scores):
        human = np.array([row.scores.get(dimension, np.nan) for row in rows])
        for part, values in columns.items():
            for level in get_args(Level):
                found = correlate(values, human, documents=documents, systems=systems, level=level, seed=seed)
                figures.append(benchmark_row(task, label, part, dimension, found, signature))
    return figures
