"""Scores the rows of a task and holds the scores against what people said."""

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


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one metric on one task.

    Args:
        rows: The figures, as `gistmeter benchmark --json` writes them.
        seconds: How long scoring took, models loaded.
        values: The metric's value for each row; NaN where it gave none.
    """

    rows: list[dict[str, object]]
    seconds: float
    values: NDArray[np.float64]


def benchmark(task: str, label: str, metric: Metric, rows: Sequence[Row], *, seed: int = 0) -> Result:
    """Correlate a metric's value and parts with every human dimension, at every level.

    Args:
        task: What the figures are filed under.
        label: What the metric is called.
        metric: Scores the rows.
        rows: With human scores.
        seed: Of the bootstrap.
    """
    start = time.perf_counter()
    scores = metric.score([row.example for row in rows])
    seconds = time.perf_counter() - start
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
                signature = metric.signature.text
                figures.append(benchmark_row(task, label, part, dimension, found, signature))
    return Result(figures, seconds, columns["value"])
