"""Correlation by share of masks kept: MaskEval's figure 5."""

import math
from collections.abc import Sequence

from gistmeter.bench.suites.analyses.maskeval import KeepPoint, keep_curve
from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, absent, number
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Data, Figure, Line, Result, Series, Table
from gistmeter.core.row import Row

DIMENSIONS = ("consistency", "coherence", "fluency", "relevance")
CASE = Case("MaskEval, learned", "maskeval:dimension={dimension}")
MOST = 0.9
"""Share of the full correlation to reach, as in the paper."""
PAPER = "Paper: a threshold of .70 to .85, with 50 to 150 of 480 words masked."
TITLE = "Share of masks (MaskEval, figure 5)"
CIRCULAR = "The weights were trained on four fifths of the development articles used here."
HALVES = "Both sides count one half, as in the paper; the included weights also learn the share of each side."


def run(context: BenchmarkContext) -> Result:
    """Compute the curve of each quality."""
    lines: list[Line] = []
    series: list[Series] = []
    cases = context.wanted([CASE])
    try:
        rows = context.take("summeval")
    except NotRunError as reason:
        return Result((Table(TITLE, absent([CASE], DIMENSIONS, f"not there: {reason}")),))
    context.prepare(cases, rows, DIMENSIONS)
    for name in DIMENSIONS if cases else ():
        try:
            points, signature = _curve(context, rows, name)
        except NotRunError as reason:
            lines.append(Line(CASE.label, name, metric=_metric(name), note=f"not run: {reason}"))
            continue
        lines += _lines(name, points, signature, len(rows))
        keeps = tuple(point.keep for point in points)
        series.append(Series(name, keeps, tuple(number(point.pearson) for point in points)))
    axes = ("share of weight kept", "pooled Pearson")
    figure = Figure("keep", "MaskEval, heaviest words only", *axes, tuple(series))
    table = Table(TITLE, tuple(lines), (PAPER, CIRCULAR, HALVES))
    return Result((table,), (figure,), tuple(_says(lines)))


def _metric(dimension: str) -> str:
    return str(CASE.metric).format(dimension=dimension)


def _curve(context: BenchmarkContext, rows: Sequence[Row], dimension: str) -> tuple[list[KeepPoint], str]:
    judged = [row for row in rows if dimension in row.scores]
    metric = context.metric(CASE, dimension, spans=True)
    scores = metric.score([row.example for row in judged])
    return keep_curve(scores, [row.scores[dimension] for row in judged]), metric.signature.text


def _lines(dimension: str, points: Sequence[KeepPoint], signature: str, n: int) -> list[Line]:
    full = points[-1].pearson
    enough = next((point for point in points if point.pearson >= MOST * full), points[-1])
    return [
        Line(
            CASE.label,
            f"{dimension}, weight kept {point.keep:.1f}",
            number(point.pearson),
            metric=_metric(dimension),
            level="pooled",
            n=n,
            signature=signature,
            note=_note(point, first=point is enough),
        )
        for point in points
    ]


def _note(point: KeepPoint, *, first: bool) -> str:
    cost = f"{point.masks:.0f} words per pair, {point.share:.0%}"
    if not math.isfinite(point.pearson):
        return f"undefined: all values are the same; {cost}"
    return cost + (f"; first to reach {MOST:.0%} of the full correlation" if first else "")


def _says(lines: Sequence[Line]) -> list[str]:
    return [
        f"{line.dimension.partition(',')[0].capitalize()}: {MOST:.0%} of the full correlation with "
        f"{line.dimension.rpartition(' ')[2]} of the weight ({line.note.partition(';')[0]})."
        for line in lines
        if "first to reach" in line.note
    ]


SUITE = Suite("selective", "How few masks are enough", (Data("summeval"),), run)
