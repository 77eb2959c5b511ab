"""Hugging Face datasets: a function for `Dataset.map`."""

from collections.abc import Callable, Mapping
from typing import Any

from gistmeter.adapters.common import metric_from
from gistmeter.core.metric import Metric
from gistmeter.engine.local import score_column
from gistmeter.io.given import read_table

Batch = Mapping[str, list[Any]]
Columns = dict[str, list[Any]]


class MapFunction:
    """A function from a batch to the columns of one metric.

    Args:
        metric: The metric.
        fields: The column of each field whose column has another name.
    """

    def __init__(self, metric: Metric, fields: Mapping[str, str]) -> None:
        self.metric, self.fields = metric, dict(fields)

    def __call__(self, batch: Batch) -> Columns:
        """Return the values and the problems of a batch."""
        name = self.metric.name
        table = read_table(dict(batch), {}, self.fields)
        table.check(name, self.metric.needs)
        scores = score_column(self.metric, table.rows, label=name, progress=False)
        # No None: datasets takes the types of the columns from the first batch.
        problems = [score.problem or "" for score in scores]
        return {name: [score.value for score in scores], f"{name}_problem": problems}


def as_datasets(
    metric: str | Metric, *, fields: Mapping[str, str] | None = None, **words: object
) -> Callable[[Batch], Columns]:
    """Return a function for `dataset.map(function, batched=True)` that adds the columns of one metric.

    The columns are named `NAME` (the value; NaN for a row with a problem) and `NAME_problem` (or "").

    Args:
        metric: A name, a spec such as `speed:against=source`, or a loaded metric.
        fields: The column of each field whose column has another name: `{"candidate": "summary"}`.
        **words: The keywords of `gistmeter.load`.

    Raises:
        UsageError: If a name or an option does not exist.
    """
    return MapFunction(metric_from(metric, words), fields or {})
