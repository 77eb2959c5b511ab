"""Provide suites with rows, metrics and cached scores."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gistmeter.bench.stats.correlate import correlate
from gistmeter.bench.suites.caching_filler import CachingFiller, share_filler, uses_filler
from gistmeter.bench.suites.tables import Case, Line
from gistmeter.core.errors import GistmeterError
from gistmeter.core.levels import Level
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.io.cache import ScoreCache
from gistmeter.io.kept import CHUNK, Kept

NO_SUCH_METRIC = "not implemented in gistmeter"
Build = Callable[[str, str | None], Metric]
"""Builds a metric from its specification and a model (None: the command line's)."""


class NotRunError(Exception):
    """A metric or its data is missing; the message gives the reason."""


@dataclass
class BenchmarkContext:
    """Rows by key, and metrics with cached scores.

    Args:
        rows: Rows of each `Data` of a suite, by key.
        absent: Reasons for missing rows, by key.
        build: Builds a metric; raises GistmeterError on failure.
        cache: Score cache.
        only: Metrics to run, with options, or without to match any options; empty runs all.
        every: Metrics to run in a suite that runs all metrics.
        models: Models to compare in a suite that compares models; empty for the preset's.
        seed: Seed of bootstraps and injected errors.
        note: Called with progress messages.
    """

    rows: Mapping[str, Sequence[Row]]
    absent: Mapping[str, str]
    build: Build
    cache: ScoreCache
    only: Sequence[str] = ()
    every: Sequence[str] = ()
    models: Sequence[str] = ()
    seed: int = 0
    note: Callable[[str], None] = lambda text: None
    _metrics: dict[tuple[str, str | None, bool], Kept | str] = field(default_factory=dict, init=False)
    _fillers: dict[str, CachingFiller] = field(default_factory=dict, init=False)

    def take(self, key: str) -> Sequence[Row]:
        """Return the rows of a `Data`.

        Raises:
            NotRunError: If the rows are missing.
        """
        if key not in self.rows:
            raise NotRunError(self.absent.get(key, f"no file of {key} in the data"))
        return self.rows[key]

    def wanted(self, cases: Iterable[Case]) -> list[Case]:
        """Return the cases to run: all, or those of the requested metrics."""
        return [
            case
            for case in cases
            if not self.only
            or (case.metric and not {case.metric, case.metric.partition(":")[0]}.isdisjoint(self.only))
        ]

    def metric(self, case: Case, dimension: str = "", *, spans: bool = False) -> Kept:
        """Return a case's metric, which is built once.

        Raises:
            NotRunError: If it does not exist or cannot be built.
        """
        if case.metric is None:
            raise NotRunError(case.note or NO_SUCH_METRIC)
        key = (case.metric.format(dimension=dimension), case.model, spans)
        if key not in self._metrics:
            self._metrics[key] = self._built(*key)
        found = self._metrics[key]
        if isinstance(found, str):
            raise NotRunError(found)
        return found

    def prepare(self, cases: Sequence[Case], rows: Sequence[Row], dimensions: Sequence[str] = ("",)) -> None:
        """Score rows with several metrics and cache the scores; metrics with the same filler share fills.

        Metrics that cannot be built are skipped; `metric` and `values` report them.
        """
        examples = sorted((row.example for row in rows), key=lambda e: (e.source or "", e.references))
        metrics: dict[str, tuple[str, Kept]] = {}
        for case in cases:
            for dimension in dimensions:
                try:
                    metric = self.metric(case, dimension)
                except NotRunError:
                    continue
                label = str(case.metric).format(dimension=dimension)
                metrics[metric.signature.hash] = (label, metric)
        sharing = [metric for _, metric in metrics.values() if uses_filler(metric.metric)]
        for start in range(0, len(examples), CHUNK):
            for metric in sharing:
                metric.score(examples[start : start + CHUNK])
            self._forget()
        for label, metric in metrics.values():
            begin = time.perf_counter()
            metric.score(examples)
            self._say(label, metric, len(examples), time.perf_counter() - begin)

    def values(self, case: Case, rows: Sequence[Row], dimension: str = "") -> NDArray[np.float64]:
        """Return a case's value or component for each row; NaN if undefined.

        Raises:
            NotRunError: If the metric cannot be built, or no row has a value.
        """
        scores = self.metric(case, dimension).score([row.example for row in rows])
        self._forget()
        if case.part == "value":
            found = np.array([score.value for score in scores], dtype=float)
        else:
            found = np.array([score.parts.get(case.part, math.nan) for score in scores], dtype=float)
        if scores and not np.isfinite(found).any():
            reason = next((score.problem for score in scores if score.problem), f"no part {case.part!r}")
            raise NotRunError(f"no row has a value: {reason}")
        return found

    def seconds(self, case: Case, rows: Sequence[Row]) -> float:
        """Return the mean scoring time per row, in seconds."""
        return self.metric(case).seconds([row.example for row in rows])

    def _built(self, spec: str, model: str | None, spans: bool) -> Kept | str:
        known = self._metrics.get((spec, model, not spans))
        if isinstance(known, str):
            return known
        try:
            metric = known.metric if known else self.build(spec, model)
        except GistmeterError as error:
            return str(error).partition(";")[0]  # keep the cause, drop the advice
        return Kept(share_filler(metric, self._fillers), self.cache, spans=spans)

    def _forget(self) -> None:
        for filler in self._fillers.values():
            filler.forget()

    def _say(self, label: str, metric: Kept, rows: int, seconds: float) -> None:
        if self.cache.damaged:
            self.note(f"{label}: {self.cache.damaged} damaged cache entries discarded and scored again")
            self.cache.damaged = 0
        if seconds > 1:
            self.note(f"{label}: {rows} rows in {seconds:.1f} s")


def compare(
    context: BenchmarkContext,
    rows: Sequence[Row],
    cases: Sequence[Case],
    dimensions: Sequence[str],
    level: Level = "pooled",
) -> tuple[Line, ...]:
    """Correlate cases with human judgements: one line per case and dimension, with the published result.

    Args:
        context: Context with scores.
        rows: Rows of one data set.
        cases: Cases; those not requested are omitted.
        dimensions: Human dimensions.
        level: Level of the correlations.
    """
    cases = context.wanted(cases)
    context.prepare(cases, rows, dimensions)
    return tuple(_line(context, rows, case, name, level) for case in cases for name in dimensions)


def absent(cases: Sequence[Case], dimensions: Sequence[str], reason: str) -> tuple[Line, ...]:
    """Return the lines of cases whose data is missing."""
    return tuple(
        Line(case.label, name, paper=case.paper.get(name), metric=case.metric or "", note=reason)
        for case in cases
        for name in dimensions
    )


def _line(context: BenchmarkContext, rows: Sequence[Row], case: Case, dimension: str, level: Level) -> Line:
    paper, spec = case.paper.get(dimension), (case.metric or "").format(dimension=dimension)
    try:
        values = context.values(case, rows, dimension)
    except NotRunError as reason:
        return Line(case.label, dimension, paper=paper, metric=spec, level=level, note=f"not run: {reason}")
    human = np.array([row.scores.get(dimension, math.nan) for row in rows], dtype=float)
    documents = [row.example.doc_id for row in rows]
    systems = [row.example.system for row in rows]
    found = correlate(values, human, documents=documents, systems=systems, level=level, seed=context.seed)
    notes = [case.note, found.problem or ""]
    if found.n_undefined:
        notes.append(f"{found.n_undefined} undefined")
    return Line(
        case.label,
        dimension,
        number(found.pearson),
        paper,
        metric=spec + (f" ({case.part})" if case.part != "value" else ""),
        level=level,
        n=found.n,
        low=number(found.low),
        high=number(found.high),
        signature=context.metric(case, dimension).signature.text,
        note="; ".join(filter(None, notes)),
    )


def number(value: float) -> float | None:
    """Return None for NaN and infinities."""
    return float(value) if math.isfinite(value) else None
