"""Number of factors blanked at once: ClozE's figures 3a and 4."""

from gistmeter.bench.suites.analyses.cloze import Point, Run, timing_against_k
from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, compare
from gistmeter.bench.suites.factual import SETS
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Data, Figure, Line, Result, Series, Table

KS = (1, 2, 3, 4, 6, 8)
NOTE = "Read off the paper's plots: time decreases linearly with k; the correlation is highest at k=1."


def run(context: BenchmarkContext) -> Result:
    """Run ClozE at summary level with increasing k on each data set."""
    lines: list[Line] = []
    series: list[Series] = []
    times: list[Series] = []
    for task, (title, dimension) in SETS.items():
        try:
            points = _points(context, task, dimension)
        except NotRunError as reason:
            lines.append(
                Line("ClozE, summary level", f"{title}, every k", metric="cloze", note=f"not run: {reason}")
            )
            continue
        lines += _lines(context, task, title, dimension, points)
        ks = tuple(point.k for point in points)
        series.append(Series(title, ks, tuple(point.pearson for point in points)))
        times.append(Series(title, ks, tuple(point.seconds for point in points)))
    figures = (
        Figure("pearson", "ClozE with k factors at once", "k", "pooled Pearson", tuple(series)),
        Figure("seconds", "ClozE with k factors at once", "k", "seconds per summary", tuple(times)),
    )
    table = Table("Factors at once (ClozE, figures 3a and 4)", tuple(lines), (NOTE,))
    return Result((table,), figures, tuple(_says(series, times)))


def _case(k: int) -> Case:
    return Case(f"k={k}", f"cloze:level=summary,passage=0,copied=false,k={k}")


def _points(context: BenchmarkContext, task: str, dimension: str) -> list[Point]:
    rows = context.take(task)
    judged = [row for row in rows if dimension in row.scores]
    cases = {k: _case(k) for k in KS if context.wanted([_case(k)])}
    context.prepare(list(cases.values()), judged)
    runs = {}
    for k, case in cases.items():
        scores = context.metric(case).score([row.example for row in judged])
        runs[k] = Run(scores, context.seconds(case, judged) * len(judged))
    return timing_against_k(runs, [row.scores[dimension] for row in judged])


def _lines(
    context: BenchmarkContext, task: str, title: str, dimension: str, points: list[Point]
) -> list[Line]:
    lines = []
    for point in points:
        found = compare(context, context.take(task), [_case(point.k)], [dimension])[0]
        name, cost = f"{title}, k={point.k}", f"{point.seconds:.3f} s per summary"
        lines.append(
            Line(
                "ClozE, summary level",
                name,
                found.ours,
                metric=found.metric,
                level="pooled",
                n=found.n,
                low=found.low,
                high=found.high,
                signature=found.signature,
                note=cost,
            )
        )
    return lines


def _says(series: list[Series], times: list[Series]) -> list[str]:
    said = []
    for curve, cost in zip(series, times, strict=True):
        if len(curve.y) > 1 and cost.y[0] and cost.y[-1]:
            first, last = curve.y[0] or 0.0, curve.y[-1] or 0.0
            said.append(
                f"{curve.label}: from k={curve.x[0]} to k={curve.x[-1]}, {cost.y[0] / cost.y[-1]:.1f} times "
                f"as fast; Pearson {first:.2f} to {last:.2f}."
            )
    return said


SUITE = Suite("k", "How many factors at once", tuple(map(Data, SETS)), run)
