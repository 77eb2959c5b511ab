"""DeepEval: a metric as a `BaseMetric`."""

from gistmeter.adapters.common import example_of, library, metric_from, why
from gistmeter.core.metric import Metric

with library("deepeval"):
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase, SingleTurnParams

NEEDS = {"source": SingleTurnParams.INPUT, "references": SingleTurnParams.EXPECTED_OUTPUT}


class GistmeterMetric(BaseMetric):
    """A metric of gistmeter for DeepEval.

    `input` is the source, `actual_output` the candidate, `expected_output` the reference. A test case with a
    problem has no score; it fails with the problem as its error.

    Args:
        metric: The metric.
        threshold: The least score of a test case that passes.
    """

    def __init__(self, metric: Metric, threshold: float) -> None:
        self.metric, self.threshold = metric, threshold
        self._required_params = [SingleTurnParams.ACTUAL_OUTPUT, *(NEEDS[need] for need in metric.needs)]

    def measure(self, test_case: LLMTestCase, *args: object, **keywords: object) -> float | None:
        """Score a test case; set `score`, `reason`, `success` and `error`."""
        candidate = test_case.actual_output or ""
        example = example_of(self.metric, candidate, test_case.input, test_case.expected_output)
        (found,) = self.metric.score([example])
        self.error = found.problem
        self.score = None if found.problem else found.value
        self.score_breakdown = dict(found.parts)
        self.reason = why(found, candidate)
        self.success = self.is_successful()
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *args: object, **keywords: object) -> float | None:
        """Score a test case, as `measure` does."""
        return self.measure(test_case)

    @property
    def __name__(self) -> str:
        """The name in reports."""
        return f"gistmeter {self.metric.name}"


def as_deepeval(metric: str | Metric, *, threshold: float = 0.5, **words: object) -> GistmeterMetric:
    """Return a metric as a DeepEval metric.

    Args:
        metric: A name, a spec such as `speed:against=source`, or a loaded metric.
        threshold: The least score of a test case that passes.
        **words: The keywords of `gistmeter.load`.

    Raises:
        UsageError: If a name or an option does not exist, or deepeval is not installed.
    """
    return GistmeterMetric(metric_from(metric, words), threshold)
