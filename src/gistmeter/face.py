"""Shared code of `load`, `score` and `benchmark`: parse keywords and metrics."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict

from gistmeter import catalog
from gistmeter.core.errors import MissingField, UsageError
from gistmeter.core.metric import Metric
from gistmeter.core.nearest import did_you_mean
from gistmeter.core.options import options_given
from gistmeter.io.frames import Table
from gistmeter.io.given import COLUMNS
from gistmeter.models.run.runtime import Backend, Dtype, Runtime

if TYPE_CHECKING:
    from gistmeter.report.html.data import View
    from gistmeter.report.report import Report

LOG = logging.getLogger("gistmeter")
Metrics = str | Metric | Iterable[str | Metric]
Words = dict[str, Any]


class LoadWords(TypedDict, total=False):
    """Keywords for loading metrics by name, the same as on the command line."""

    preset: str
    model: str | None
    dimension: str | None
    device: str
    dtype: Dtype
    backend: Backend
    batch_tokens: int | None
    cache_mb: int
    runtime: Runtime | None


class ScoreWords(LoadWords, total=False):
    """Keywords for columns with one entry per row, and for loading metrics."""

    candidates: Iterable[str | None]
    sources: Iterable[str | None] | None
    references: Iterable[str | Iterable[str | None] | None] | None
    ids: Iterable[object] | None
    systems: Iterable[object] | None
    doc_ids: Iterable[object] | None
    languages: Iterable[str | None] | None


def load(  # noqa: PLR0913 - the words of the command line
    spec: str,
    /,
    *,
    preset: str = "mini",
    model: str | None = None,
    device: str | None = None,
    dtype: Dtype | None = None,
    backend: Backend | None = None,
    batch_tokens: int | None = None,
    cache_mb: int | None = None,
    progress: bool = True,
    runtime: Runtime | None = None,
    options: object = None,
    **more: object,
) -> Metric:
    """Load a metric by its name.

    Args:
        spec: A name (`cloze`, `rouge`; `gistmeter score --help` lists them), or a name with options as on
            the command line: `speed:against=source,value=min`.
        preset: `mini` (default, offline), `base`, `paper`, …; `gistmeter metrics NAME` lists them. `paper` is
            the paper's own trained model for `cloze` only; see docs/papers.md.
        model: A model that replaces the preset's: a folder, or a Hub id with an optional `@revision`.
        device: `auto` (default), `cpu`, `cuda`, `cuda:1`, …
        dtype: `fp32` (default), `bf16`, or `int8` (OpenVINO only).
        backend: `auto` (default), `torch` or `openvino`.
        batch_tokens: The maximum number of tokens in a batch.
        cache_mb: The maximum size of the in-memory cache of encoded texts, in megabytes; 256 by default.
        progress: Whether to show a progress bar after two seconds.
        runtime: A `Runtime` that replaces device, dtype, backend, batch_tokens, cache_mb and progress.
        options: The options of the metric: a dict, or its options type, such as
            `gistmeter.metrics.speed.SpeedOptions(value="min")`.
        **more: Options of the metric by name: `against="source"`.

    Raises:
        UsageError: If a name, a preset or an option does not exist; the message suggests a similar one.
        ModelError: If the model cannot be found or loaded.

    >>> load("rouge:value=rouge1_f1").signature == load("rouge", value="rouge1_f1").signature
    True
    """
    how = {"device": device, "dtype": dtype, "backend": backend, "batch_tokens": batch_tokens}
    chosen = runtime_from({**how, "cache_mb": cache_mb, "runtime": runtime}, progress=progress)
    every = {**options_given(options), **more}
    return catalog.load(spec, preset=preset, model=model, runtime=chosen, options=every)


def split_words(given: Mapping[str, Any], *, columns: bool = True) -> tuple[Words, Words]:
    """Split keywords into those of `load` and columns; drop columns that are None.

    Raises:
        UsageError: If a keyword does not exist; the message suggests the most similar one.
    """
    allowed = [*(COLUMNS if columns else ()), *LoadWords.__annotations__]
    for name in given:
        if name not in allowed:
            hint = did_you_mean(name, [*allowed, "fields", "seed", "progress"])
            raise UsageError(f"no keyword {name!r}{hint}; there are: {', '.join(allowed)}")
    words = {name: value for name, value in given.items() if name not in COLUMNS}
    return words, {name: given[name] for name in COLUMNS if given.get(name) is not None}


def runtime_from(words: Mapping[str, Any], *, progress: bool) -> Runtime:
    """Return the `Runtime` that keywords define.

    Args:
        words: `runtime`, or any fields of a `Runtime`; None selects the default.
        progress: Whether models show progress; ignored if `words` has a `runtime`.

    Raises:
        UsageError: If `runtime` is combined with its fields, or a value is invalid.
    """
    given = {name: value for name, value in words.items() if value is not None}
    runtime = given.pop("runtime", None)
    if runtime is None:
        return Runtime(**given, progress=progress)
    if given:
        raise UsageError(f"give runtime or {' and '.join(given)}, not both")
    if not isinstance(runtime, Runtime):
        raise UsageError(f"runtime must be a gistmeter.Runtime, not {type(runtime).__name__}")
    return runtime


def usable_metrics(metrics: Metrics, words: Words, table: Table, *, progress: bool) -> dict[str, Metric]:
    """Return metrics by label; load those given by name.

    The label of a metric object is its name, with a number if the name is taken.

    Args:
        metrics: A name, a spec, a metric, or several.
        words: The keywords of `load`.
        table: The rows to score. `all` skips the metrics that require columns that the table lacks.
        progress: Whether models show progress.

    Raises:
        UsageError: If an item is not a name or a metric, or keywords of `load` are given without names.
        MissingField: If a column that a metric requires is missing.
        ModelError: If a model cannot be found or loaded.
    """
    asked = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    specs = [metric for metric in asked if isinstance(metric, str)]
    if words and not specs:
        raise UsageError(
            f"{', '.join(words)}: only for metrics given by name; pass them to gistmeter.load instead"
        )
    loaded = _load(specs, dict(words), progress=progress) if specs else {}
    found: dict[str, Metric] = {}
    for metric in asked:
        if metric == catalog.ALL:
            found |= {label: each for label, each in loaded.items() if label not in found}
        elif isinstance(metric, str):
            found[metric] = loaded[metric]
        elif isinstance(metric, Metric) and not isinstance(metric, type):
            found[_free_label(metric.name, {*found, *specs})] = metric
        else:
            raise UsageError(f"a metric must be a name, a spec or a loaded metric, not {metric!r}")
    return {label: metric for label, metric in found.items() if _fits(label, metric, table, specs)}


def write_html(
    report: "Report", path: str | PathLike[str], *, title: str = "gistmeter report", rows: int = 1000
) -> None:
    """Write a report as one HTML file, which needs no network and stays below 5 MB.

    Args:
        report: From `score`.
        path: The file; it appears when it is whole.
        title: Title of the page.
        rows: Maximum number of rows; of more, evenly spaced ones are shown.

    Raises:
        DataError: If the file cannot be written.

    >>> from gistmeter.core.example import Example
    >>> from gistmeter.report.report import Report
    >>> report = Report.of({}, [Example("1", "A cat.")])
    >>> write_html(report, "no/report.html")
    Traceback (most recent call last):
    gistmeter.core.errors.DataError: cannot write no/report.html: there is no folder no; create it first
    """
    from gistmeter.io.files import check_output, write_whole
    from gistmeter.report.html.page import page

    check_output(path)
    write_whole(path, page(view_of(report), title=title, rows=rows).encode("utf-8", "replace"))


def view_of(report: "Report") -> "View":
    """Return what the HTML pages draw of a report, sentence by sentence."""
    from gistmeter.described.describe import anchors_of
    from gistmeter.text.sentences import split_sentences

    known: dict[str, list[tuple[int, int]]] = {}
    for example in report.examples:
        if example.candidate not in known:
            known[example.candidate] = list(split_sentences(example.candidate, example.language))
    return replace(
        report.view,
        sentences=[known[example.candidate] for example in report.examples],
        anchors=[anchors_of(result.signature.text) for result in report.view.results.values()],
    )


def _load(specs: Sequence[str], words: Words, *, progress: bool) -> dict[str, Metric]:
    own = {name: words.pop(name) for name in ("preset", "model", "dimension") if name in words}
    return catalog.load_all(specs, runtime=runtime_from(words, progress=progress), **own)


def _free_label(name: str, taken: Collection[str]) -> str:
    labels = [name, *(f"{name} ({number})" for number in range(2, len(taken) + 2))]
    return next(label for label in labels if label not in taken)


def _fits(label: str, metric: Metric, table: Table, specs: Sequence[str]) -> bool:
    try:
        table.check(label, metric.needs)
    except MissingField as error:
        if catalog.ALL not in specs or label in specs:
            raise
        LOG.info("skipped: %s", error)
        return False
    return True
