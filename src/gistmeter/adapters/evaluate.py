"""Hugging Face evaluate: a metric as an `evaluate.Metric`."""

from pathlib import Path
from typing import Any

from gistmeter.adapters.common import library, mean_of, metric_from, score_texts
from gistmeter.core.metric import Metric

with library("evaluate"):
    import datasets
    import evaluate

FOLDER = str(Path(__file__).parent / "gistmeter_metric")
"""Folder for `evaluate.load(FOLDER, "rouge")`; the second argument is the spec of a metric."""


class GistmeterMetric(evaluate.Metric):
    """A metric of gistmeter for the library evaluate; `config_name` is its spec.

    `compute` returns the mean under the metric's name, all scores (NaN for rows with a problem), all
    problems, and the signature.
    """

    metric: Metric | None = None

    def _info(self) -> evaluate.MetricInfo:
        self.metric = self.metric or metric_from(self.config_name, {})
        text = datasets.Value("string")
        kinds = {"source": ("sources", text), "references": ("references", datasets.Sequence(text))}
        columns = dict(kinds[need] for need in self.metric.needs)
        features = [datasets.Features({"predictions": text, **columns})]
        if "references" in columns:
            features.append(datasets.Features({"predictions": text, **columns, "references": text}))
        return evaluate.MetricInfo(
            description=f"gistmeter: {self.metric.name}",
            citation="",
            inputs_description=f"predictions, {', '.join(columns)}: one entry per row",
            features=features,
        )

    def _compute(
        self, predictions: list[str], sources: list[str] | None = None, references: list[Any] | None = None
    ) -> dict[str, Any]:
        assert self.metric is not None  # set by _info, which the constructor calls
        scores = score_texts(self.metric, predictions, sources, references)
        values = [score.value for score in scores]
        return {
            self.metric.name: mean_of(values),
            "scores": values,
            "problems": [score.problem for score in scores],
            "signature": self.metric.signature.text,
        }


def as_evaluate(metric: str | Metric, **words: object) -> evaluate.Metric:
    """Return a metric as an `evaluate.Metric`.

    Args:
        metric: A name, a spec such as `speed:against=source`, or a loaded metric.
        **words: The keywords of `gistmeter.load`.

    Raises:
        UsageError: If a name or an option does not exist, or evaluate is not installed.
    """
    loaded = metric_from(metric, words)
    made = type("GistmeterMetric", (GistmeterMetric,), {"metric": loaded})
    return made(config_name=loaded.name)
