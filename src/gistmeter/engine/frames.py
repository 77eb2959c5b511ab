"""Scores a stream of pandas frames: the function that Spark's `mapInPandas` and its like ask for."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from gistmeter.core.score_row import score_row
from gistmeter.engine.local import score_rows
from gistmeter.engine.plan import Plan
from gistmeter.io.frames import table_from

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "id string, metric string, value double, problem string, signature string"
"""The columns of the frames that come out, in Spark's words."""


def score_frames(
    frames: "Iterable[pd.DataFrame]", plan: Plan, *, fields: Mapping[str, str] | None = None
) -> "Iterator[pd.DataFrame]":
    """Build the metrics once, and score frames of rows with them.

    Args:
        frames: With a column `candidate`, and those that the metrics need; a row without an `id` is
            numbered within its frame.
        plan: The metrics.
        fields: The column of each field whose column has another name.

    Yields:
        Frames with the columns of `SCHEMA`, a row a metric and input row.
    """
    import pandas as pd

    metrics = plan.build()
    for frame in frames:
        rows = table_from(frame, fields=fields).rows
        chunks = score_rows(
            [metric for _, metric in metrics], rows, max_seconds_per_row=plan.max_seconds_per_row
        )
        found: list[dict[str, Any]] = [
            score_row(label, score, metric.signature, one.row.example)
            for one in chain.from_iterable(chunks)
            for (label, metric), score in zip(metrics, one.scores, strict=True)
        ]
        yield pd.DataFrame(found, columns=[column.split()[0] for column in SCHEMA.split(", ")])
