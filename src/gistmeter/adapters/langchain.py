"""LangChain: a metric as a `StringEvaluator`."""

from typing import Any

from gistmeter.adapters.common import example_of, library, metric_from, why
from gistmeter.core.metric import Metric

with library("langchain-classic"):
    from langchain_classic.evaluation import StringEvaluator


class GistmeterEvaluator(StringEvaluator):
    """A metric of gistmeter for LangChain: `evaluate_strings(prediction=…, input=…, reference=…)`.

    The input is the source. `score` is None for texts with a problem, which `reasoning` states.

    Args:
        metric: The metric.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric

    @property
    def requires_input(self) -> bool:
        """Whether the metric requires a source."""
        return "source" in self.metric.needs

    @property
    def requires_reference(self) -> bool:
        """Whether the metric requires a reference."""
        return "references" in self.metric.needs

    @property
    def evaluation_name(self) -> str:
        """The name of the metric."""
        return self.metric.name

    def _evaluate_strings(
        self,
        *,
        prediction: str,
        reference: str | None = None,
        input: str | None = None,
        **kwargs: object,
    ) -> dict[str, Any]:
        (score,) = self.metric.score([example_of(self.metric, prediction, input, reference)])
        value = None if score.problem else score.value
        return {"key": self.metric.name, "score": value, "reasoning": why(score, prediction)}


def as_langchain(metric: str | Metric, **words: object) -> GistmeterEvaluator:
    """Return a metric as a LangChain evaluator.

    Args:
        metric: A name, a spec such as `speed:against=source`, or a loaded metric.
        **words: The keywords of `gistmeter.load`.

    Raises:
        UsageError: If a name or an option does not exist, or langchain-classic is not installed.
    """
    return GistmeterEvaluator(metric_from(metric, words))
