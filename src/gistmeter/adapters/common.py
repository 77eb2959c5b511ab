"""Shared code of the adapters: import the library, load the metric, score texts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import fmean
from typing import Any

from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.score import Score
from gistmeter.engine.local import score_column
from gistmeter.face import load
from gistmeter.io.given import read_table


@contextmanager
def library(package: str) -> Iterator[None]:
    """Replace a failed import of a library by a message that says how to install it.

    Raises:
        UsageError: If the library is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = package.replace("-", "_")
        if error.name is None or error.name.partition(".")[0] != module:
            raise
        raise UsageError(f"{package} is not installed; run: pip install {package}") from error


def metric_from(metric: str | Metric, words: Mapping[str, object]) -> Metric:
    """Return the metric; load it if it is a name or a spec.

    Args:
        metric: A name, a spec, or a loaded metric.
        words: The keywords of `gistmeter.load`, for a name or a spec.

    Raises:
        UsageError: If a name does not exist, or keywords are given with a loaded metric.
        ModelError: If a model cannot be found or loaded.
    """
    if isinstance(metric, str):
        keywords: dict[str, Any] = {"progress": False, **words}
        return load(metric, **keywords)
    if words:
        raise UsageError(f"{', '.join(words)}: only for a metric given by name; pass them to gistmeter.load")
    return metric


def score_texts(
    metric: Metric,
    candidates: Sequence[str | None],
    sources: Sequence[str | None] | None = None,
    references: Sequence[object] | None = None,
) -> list[Score]:
    """Score candidates in order; references are one text or a list of texts each.

    Raises:
        MissingField: If the metric requires sources or references and they are None.
        DataError: If the columns differ in length.
    """
    columns = {"candidates": candidates, "sources": sources, "references": references}
    given: dict[str, Any] = {name: values for name, values in columns.items() if values is not None}
    table = read_table(None, given, None)
    table.check(metric.name, metric.needs)
    return score_column(metric, table.rows, label=metric.name, progress=False)


def mean_of(values: Sequence[float]) -> float:
    """Return the mean of the defined values; NaN if there are none.

    >>> mean_of([1.0, float("nan"), 0.5])
    0.75
    """
    defined = [value for value in values if not math.isnan(value)]
    return fmean(defined) if defined else math.nan


def why(score: Score, candidate: str) -> str:
    """Return the problem of a score, or the part of the candidate with the lowest value.

    >>> why(Score.undefined("1", "the candidate is empty"), "")
    'the candidate is empty'
    """
    if score.problem is not None:
        return score.problem
    spans = [span for span in score.spans if span.side == "candidate" and not math.isnan(span.value)]
    if not spans:
        return ""
    worst = min(spans, key=lambda span: span.value)
    return f"lowest: {candidate[worst.start : worst.end]!r} ({worst.value:.3f})"


def example_of(metric: Metric, candidate: str, source: object, references: object) -> Example:
    """Return an example with the fields that the metric requires; other values are ignored.

    Args:
        metric: The metric to score with.
        candidate: The text to score.
        source: The source, or None.
        references: One text, a list of texts, or None.
    """
    texts = [references] if isinstance(references, str) else list(references or [])  # type: ignore[call-overload]
    wanted = {"source": source, "references": texts}
    return Example("1", candidate, **{name: wanted[name] for name in metric.needs})  # type: ignore[arg-type]
