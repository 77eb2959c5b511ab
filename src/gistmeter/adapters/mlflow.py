"""MLflow: a metric made by `make_metric`."""

from collections.abc import Iterable
from math import isnan
from typing import Any

from gistmeter.adapters.common import library, mean_of, metric_from, score_texts, why
from gistmeter.core.metric import Metric

with library("mlflow"):
    from mlflow.metrics import MetricValue, make_metric
    from mlflow.models import EvaluationMetric

Texts = Iterable[Any]


def as_mlflow(metric: str | Metric, **words: object) -> EvaluationMetric:
    """Return a metric for `mlflow.models.evaluate(extra_metrics=[…])`.

    The candidates are the predictions, the references the targets, and the sources the column `sources`;
    `evaluator_config={"col_mapping": {"sources": "article"}}` names another column.

    Args:
        metric: A name, a spec such as `speed:against=source`, or a loaded metric.
        **words: The keywords of `gistmeter.load`.

    Raises:
        UsageError: If a name or an option does not exist, or mlflow is not installed.
    """
    loaded = metric_from(metric, words)

    def score(predictions: Texts, sources: Texts | None, targets: Texts | None) -> MetricValue:
        candidates = list(predictions)
        found = score_texts(
            loaded,
            candidates,
            None if sources is None else list(sources),
            None if targets is None else list(targets),
        )
        values = [score.value for score in found]
        return MetricValue(
            scores=values,
            justifications=[why(*pair) for pair in zip(found, candidates, strict=True)],
            aggregate_results={
                "mean": mean_of(values),
                "undefined": sum(map(isnan, values)),
            },
        )

    # MLflow finds the columns by the names of the parameters, and passes them by position.
    def with_source(predictions: Texts, sources: Texts, targets: Texts | None = None) -> MetricValue:
        return score(predictions, sources, targets)

    def with_targets(predictions: Texts, targets: Texts | None = None) -> MetricValue:
        return score(predictions, None, targets)

    eval_fn = with_source if "source" in loaded.needs else with_targets
    return make_metric(eval_fn=eval_fn, greater_is_better=True, name=loaded.name)
