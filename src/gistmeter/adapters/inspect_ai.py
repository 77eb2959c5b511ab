"""Inspect: a metric as a scorer of an evaluation task."""

from gistmeter.adapters.common import example_of, library, metric_from, why
from gistmeter.core.metric import Metric

with library("inspect-ai"):
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState


def as_inspect_ai(metric: str | Metric, *, source: str | None = None, **words: object) -> Scorer:
    """Return a metric as an Inspect scorer, which scores the completion of each sample.

    A sample with a problem is unscored: its value is NaN, which Inspect leaves out of the mean.

    Args:
        metric: A name, a spec such as `speed:against=source`, or a loaded metric.
        source: The key of the source in the samples' metadata; by default the input is the source.
        **words: The keywords of `gistmeter.load`.

    Raises:
        UsageError: If a name or an option does not exist, or inspect-ai is not installed.
    """
    loaded = metric_from(metric, words)

    @scorer(metrics=[mean(), stderr()], name=f"gistmeter_{loaded.name}")
    def gistmeter() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            candidate = state.output.completion
            text = state.input_text if source is None else state.metadata.get(source)
            (found,) = loaded.score([example_of(loaded, candidate, text, list(target))])
            return Score(
                value=found.value,
                answer=candidate,
                explanation=why(found, candidate),
                metadata={"parts": dict(found.parts), "signature": loaded.signature.text},
            )

        return score

    return gistmeter()
