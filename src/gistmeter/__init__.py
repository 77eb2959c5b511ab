"""Score summaries and simplifications with published metrics, and show the spans behind a score.

>>> import gistmeter as gm
>>> report = gm.score("rouge", candidates=["The cat sat."], references=[["The cat sat down."]])
>>> round(report.mean, 3)
0.857
>>> round(report.scores[0].parts["rouge1_recall"], 2)
0.75
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from gistmeter.core import errors
from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.engine.local import score_column
from gistmeter.face import (
    LoadWords,
    Metrics,
    ScoreWords,
    load,
    split_words,
    usable_metrics,
    write_html,
)
from gistmeter.io.given import read_spoken
from gistmeter.models.run.runtime import Runtime

if TYPE_CHECKING:
    import evaluate

    from gistmeter.bench.compare import Scores
    from gistmeter.report.comparison import Comparison
    from gistmeter.report.correlations import Correlations
    from gistmeter.report.report import Report

__version__ = "0.1.0"
__all__ = [
    "Example",
    "Flag",
    "Metric",
    "Report",
    "Runtime",
    "Score",
    "Signature",
    "Span",
    "as_evaluate",
    "benchmark",
    "compare",
    "errors",
    "load",
    "score",
    "write_html",
]


def __getattr__(name: str) -> object:
    """Import `Report`, which needs numpy, when it is used."""
    if name == "Report":
        from gistmeter.report.report import Report

        return Report
    raise AttributeError(f"module 'gistmeter' has no attribute {name!r}")


def score(
    metrics: Metrics,
    rows: object = None,
    /,
    *,
    fields: Mapping[str, str] | None = None,
    language: str | None = None,
    seed: int = 0,
    progress: bool = True,
    **given: Unpack[ScoreWords],
) -> "Report":
    """Score texts with one metric or several.

    Args:
        metrics: A name, a spec (`speed:against=source`), a loaded metric, or a list of them. `all` selects
            all metrics whose model and required fields are available.
        rows: A list or generator of dicts or Examples; a pandas or polars data frame, a pyarrow table, a
            `datasets.Dataset`; a dict of columns; or the path of a file. To pass columns by keyword, omit it.
        fields: The column of each field whose column has another name: `{"candidate": "summary"}`.
        language: The language of the rows that name none in a field `language`, as a tag such as `fr`. A row
            in a language that a metric does not score has a problem.
        seed: Seed of the bootstrap for confidence intervals.
        progress: Whether to show a progress bar after two seconds.
        **given: Columns with one entry per row: `candidates`, `sources`, `references` (each entry is a list
            or one string), `ids`, `systems`, `doc_ids`, `languages`. For metrics given by name, also
            keywords of `load` (`preset`, `model`, `device`, `dtype`, `backend`, `batch_tokens`, `cache_mb`,
            `runtime`) and `dimension`, the quality to score.

    Returns:
        The scores in the order of the rows. A row without a required text has a problem instead of a value.

    Raises:
        UsageError: If a name, a preset or a keyword does not exist; the message suggests a similar one.
        MissingField: If the rows lack a column that a metric requires.
        DataError: If a file cannot be read, or columns differ in length.
        ModelError: If a model cannot be found or loaded.

    >>> rows = [{"candidate": "Rain fell.", "source": "Rain fell all day."}, {"candidate": None}]
    >>> report = score(["extractive", "length_ratio"], rows)
    >>> report["extractive"].mean, report["extractive"].scores[1].problem
    (1.0, "no candidate: 'candidate' is missing or null")
    """
    from gistmeter.report.report import Report

    words, columns = split_words(given)
    table = read_spoken(rows, columns, fields, language)
    scored = {
        label: (metric.signature, score_column(metric, table.rows, label=label, progress=progress))
        for label, metric in usable_metrics(metrics, words, table, progress=progress).items()
    }
    human = [row.scores for row in table.rows]
    return Report.of(scored, [row.example for row in table.rows], human=human, seed=seed)


def benchmark(
    metrics: Metrics,
    rows: object,
    /,
    *,
    fields: Mapping[str, str] | None = None,
    language: str | None = None,
    seed: int = 0,
    progress: bool = True,
    **given: Unpack[LoadWords],
) -> "Correlations":
    """Measure how well metrics correlate with human judgements.

    Args:
        metrics: The metrics, as for `score`.
        rows: The rows, as for `score`, with human judgements: a field `scores` (a dict from dimension to
            number), or one column `scores.NAME` per dimension.
        fields: The column of each field whose column has another name: `{"scores.fluency": "fluency"}`.
        language: The language of the rows that name none in a field `language`, as a tag such as `fr`. A row
            in a language that a metric does not score has a problem.
        seed: Seed of the bootstrap for confidence intervals.
        progress: Whether to show a progress bar after two seconds.
        **given: For metrics given by name, the keywords of `load`.

    Returns:
        The Pearson, Spearman and Kendall correlation of each component of each metric with each dimension.

    Raises:
        DataError: If no row has a human judgement.

    >>> texts = ["Rain.", "Rain fell.", "Rain fell today."]
    >>> rows = [{"candidate": t, "source": "Rain fell today.", "scores": {"fluency": len(t)}} for t in texts]
    >>> found = benchmark("length_ratio", rows)
    >>> round(next(row["pearson"] for row in found if row["part"] == "value"), 2)
    1.0
    """
    from gistmeter.bench.run import correlations
    from gistmeter.report.correlations import Correlations

    words, _ = split_words(given, columns=False)
    table = read_spoken(rows, {}, fields, language)
    read = [row for row in table.rows if row.problem is None]
    if not any(row.scores for row in read):
        raise errors.DataError('no row has human scores; give each a field like scores: {"fluency": 4.3}')
    found = []
    for label, metric in usable_metrics(metrics, words, table, progress=progress).items():
        scores = score_column(metric, read, label=label, progress=progress)
        found += correlations("rows", label, read, scores, signature=metric.signature.text, seed=seed)
    grouped = {
        "summary": any(row.example.doc_id for row in read),
        "system": any(row.example.system for row in read),
    }
    return Correlations([row for row in found if grouped.get(str(row["level"]), True)])


def compare(
    scores: "Scores", /, *, by: str = "system", systems: Sequence[str] = (), seed: int = 0
) -> "Comparison":
    """Test whether one system scores higher than another on the same documents.

    Args:
        scores: A report whose examples have a `system`; a dict of reports, one a system; or the path of a
            file that `gistmeter score -o` wrote, or a list of paths.
        by: What names a system: `system`, `file` (also the names of a dict of reports), or another column
            of the files.
        systems: Which to compare; all by default.
        seed: Of the bootstrap and the permutation test.

    Returns:
        Means, differences, intervals, tests by document, and ranks.

    Raises:
        UsageError: If a system or a column does not exist.
        DataError: If there are fewer than two systems, or their rows share neither ids nor documents.

    >>> one, other = (score("length_ratio", candidates=texts, sources=["a b", "a b"], ids=["1", "2"])
    ...               for texts in (["a b", "a"], ["a", "a"]))
    >>> compare({"one": one, "other": other}).pairs[0]["difference"]
    0.25
    """
    from gistmeter.bench.compare import compare as compare_values
    from gistmeter.bench.compare import measured

    return compare_values(measured(scores, by=by), systems=systems, by=by, seed=seed)


def as_evaluate(metric: str | Metric, /, **words: Unpack[LoadWords]) -> "evaluate.Metric":
    """Return a metric as a metric of the Hugging Face library evaluate.

    Args:
        metric: A name, a spec such as `speed:against=source`, or a loaded metric.
        **words: For a metric given by name, the keywords of `load`.

    Raises:
        UsageError: If a name does not exist, or evaluate is not installed.
    """
    from gistmeter.adapters.evaluate import as_evaluate as adapt

    return adapt(metric, **words)
