"""How many factors can be blanked at once: ClozE's figures 3a and 4."""

from gistmeter.bench.suite import Case, Data, Figure, Line, Result, Series, Suite, Table
from gistmeter.bench.suites.factual import SETS
from gistmeter.bench.workbench import Bench, NotRunError, compare
from gistmeter.metrics.cloze.analyses import Point, Run, speed_against_k

KS = (1, 2, 3, 4, 6, 8)
NOTE = (
    "The paper's curves are drawn, not printed: time falls linearly with k, the correlation is best at k=1."
)


def run(bench: Bench) -> Result:
    """Measure each set at summary level with growing k."""
    lines: list[Line] = []
    series: list[Series] = []
    times: list[Series] = []
    for task, (title, dimension) in SETS.items():
        try:
            points = _points(bench, task, dimension)
        except NotRunError as reason:
            lines.append(
                Line("ClozE, summary level", f"{title}, every k", metric="cloze", note=f"not run: {reason}")
            )
            continue
        lines += _lines(bench, task, title, dimension, points)
        ks = tuple(point.k for point in points)
        series.append(Series(title, ks, tuple(point.pearson for point in points)))
        times.append(Series(title, ks, tuple(point.seconds for point in points)))
    figures = (
        Figure("pearson", "ClozE with k factors at once", "k", "flat Pearson", tuple(series)),
        Figure("seconds", "ClozE with k factors at once", "k", "seconds a summary", tuple(times)),
    )
    table = Table("Factors at once (ClozE, figures 3a and 4)", tuple(lines), (NOTE,))
    return Result((table,), figures, tuple(_says(series, times)))


def _case(k: int) -> Case:
    return Case(f"k={k}", f"cloze:level=summary,k={k}")


def _points(bench: Bench, task: str, dimension: str) -> list[Point]:
    rows = bench.take(task)
    judged = [row for row in rows if dimension in row.scores]
    cases = {k: _case(k) for k in KS if bench.wanted([_case(k)])}
    bench.prepare(list(cases.values()), judged)
    runs = {}
    for k, case in cases.items():
        scores = bench.metric(case).score([row.example for row in judged])
        runs[k] = Run(scores, bench.seconds(case, judged) * len(judged))
    return speed_against_k(runs, [row.scores[dimension] for row in judged])


def _lines(bench: Bench, task: str, title: str, dimension: str, points: list[Point]) -> list[Line]:
    lines = []
    for point in points:
        found = compare(bench, bench.take(task), [_case(point.k)], [dimension])[0]
        name, cost = f"{title}, k={point.k}", f"{point.seconds:.3f} s a summary"
        lines.append(
            Line(
                "ClozE, summary level",
                name,
                found.ours,
                metric=found.metric,
                level="flat",
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
                f"as fast, Pearson {first:.2f} to {last:.2f}."
            )
    return said


SUITE = Suite("k", "How many factors at once", tuple(map(Data, SETS)), run)
