"""Cloze accuracy against agreement with human judgements, for several fillers: ClozE's figure 3b."""

from collections.abc import Sequence

import numpy as np

from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, absent, compare, number
from gistmeter.bench.suites.factual import AS_IN_THE_PAPER, SETS
from gistmeter.bench.suites.gofigure_texts import DATA
from gistmeter.bench.suites.gofigure_texts import SETS as TEXTS
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Data, Figure, Line, Result, Series, Table

SPEC = f"cloze:{AS_IN_THE_PAPER}"
ACCURACY = "cloze accuracy"
NOTES = (
    "cloze accuracy: mean ClozE (token F1) of gold summaries of CNN/DailyMail, whose factors are taken to be "
    "correct. The other lines are correlations with human judgements.",
    "The paper compares checkpoints of a training and shows a plot without figures. Give them with --model, "
    "separated by commas: `gistmeter train recipes/cloze-paper.toml --steps N` writes one.",
)


def run(context: BenchmarkContext) -> Result:
    """Measure the accuracy of each filler, and its correlations on each data set."""
    cases = [
        Case(model or "the preset's filler", spec, model=model)
        for spec in _specs(context)
        for model in context.models or (None,)
    ]
    lines: list[Line] = []
    points: dict[str, list[tuple[float, float]]] = {}
    for case in cases:
        accuracy, line = _accuracy(context, case)
        lines.append(line)
        for task, (title, dimension) in SETS.items():
            found = _agreement(context, case, task, dimension)
            lines.append(found)
            if accuracy is not None and found.ours is not None:
                points.setdefault(title, []).append((accuracy, found.ours))
    series = tuple(_series(title, sorted(own)) for title, own in points.items())
    figure = Figure("pearson", "Cloze accuracy and agreement", ACCURACY, "pooled Pearson", series)
    table = Table("Cloze accuracy and agreement (ClozE, figure 3b)", tuple(lines), NOTES)
    return Result((table,) if lines else (), (figure,), tuple(_says(lines, series)))


def _specs(context: BenchmarkContext) -> list[str]:
    """Return the paper's configuration, or the requested ones of ClozE."""
    given = [spec for spec in context.only if spec.partition(":")[0] == "cloze"]
    return [SPEC if spec == "cloze" else spec for spec in given] if context.only else [SPEC]


def _accuracy(context: BenchmarkContext, case: Case) -> tuple[float | None, Line]:
    """Return the mean score of gold summaries, also as a line."""
    try:
        rows = [row for row in context.take(TEXTS[DATA].key) if row.example.system == "cnndm"]
        context.prepare([case], rows)
        values = context.values(case, rows)
    except NotRunError as reason:
        return None, absent([case], [ACCURACY], f"not run: {reason}")[0]
    values = values[np.isfinite(values)]
    mean = number(float(values.mean()))
    signature = context.metric(case).signature.text
    metric = case.metric or ""
    return mean, Line(case.label, ACCURACY, mean, metric=metric, n=len(values), signature=signature)


def _agreement(context: BenchmarkContext, case: Case, task: str, dimension: str) -> Line:
    try:
        [found] = compare(context, context.take(task), [case], [dimension])
    except NotRunError as reason:
        [found] = absent([case], [dimension], f"not run: {reason}")
    return Line(
        found.label, f"{SETS[task][0]}, {dimension}", found.ours, metric=found.metric, level=found.level,
        n=found.n, low=found.low, high=found.high, signature=found.signature, note=found.note,
    )  # fmt: skip


def _series(title: str, points: Sequence[tuple[float, float]]) -> Series:
    return Series(title, tuple(x for x, _ in points), tuple(y for _, y in points))


def _says(lines: Sequence[Line], series: Sequence[Series]) -> list[str]:
    said = [
        f"{line.label}: cloze accuracy {line.ours:.2f} ({line.n} gold summaries)."
        for line in lines
        if line.dimension == ACCURACY and line.ours is not None
    ]
    for curve in series:
        if len(curve.x) > 1:
            said.append(
                f"{curve.label}: from accuracy {curve.x[0]:.2f} to {curve.x[-1]:.2f}, Pearson "
                f"{curve.y[0]:.2f} to {curve.y[-1]:.2f}."
            )
    return said


SUITE = Suite("accuracy", "Better fillers, better ClozE?", (TEXTS[DATA], *(Data(task) for task in SETS)), run)
