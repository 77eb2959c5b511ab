"""lm-eval-harness: the part of a task's configuration that scores generated texts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gistmeter.adapters.common import example_of, mean_of, metric_from
from gistmeter.core.metric import Metric

Results = Callable[[Mapping[str, Any], Sequence[str]], dict[str, float]]


def as_lm_eval(
    metric: str | Metric, *, source: str = "source", references: str = "references", **words: object
) -> dict[str, Any]:
    """Return `process_results` and `metric_list` of a task with `output_type: generate_until`.

    The task reports the mean over the documents with a score, under the metric's name, and the share of
    documents without one as `NAME_undefined`.

    Args:
        metric: A name, a spec such as `speed:against=source`, or a loaded metric.
        source: The field of a document with the source.
        references: The field with the reference, or a list of references.
        **words: The keywords of `gistmeter.load`.

    Raises:
        UsageError: If a name or an option does not exist.
    """
    loaded = metric_from(metric, words)

    def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
        example = example_of(loaded, results[0], doc.get(source), doc.get(references))
        (score,) = loaded.score([example])
        return {loaded.name: score.value, f"{loaded.name}_undefined": float(score.problem is not None)}

    entries = (loaded.name, True), (f"{loaded.name}_undefined", False)
    return {
        "process_results": process_results,
        "metric_list": [
            {"metric": name, "aggregation": mean_of, "higher_is_better": better} for name, better in entries
        ],
    }
