"""Time against agreement with human judgements: SPEED's figure 3, over presets and models."""

import time
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from gistmeter.bench.datasets.dataset import find
from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, absent, number
from gistmeter.bench.suites.speed_cases import BEST, FIGURES, SENTENCE_MODELS
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Data, Figure, Line, Result, Series, Table
from gistmeter.core.correlation import pearson
from gistmeter.core.errors import GistmeterError
from gistmeter.core.row import Row
from gistmeter.models.encode.text_memory import SHARED

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
SECONDS, AGREEMENT = "seconds", "average Pearson"
WARM_UP = 2
"""Rows scored before the clock starts."""
NOTES = (
    "SummEval with one reference. average Pearson: mean of the pooled correlations with coherence, "
    "consistency, fluency and relevance, as in the last column of SPEED's table 2. The paper plots its times "
    "without figures.",
    "seconds: scoring all rows in one call, after the model is loaded and without cached scores or "
    "encodings. It depends on the machine; compare lines of one run.",
)


def _speed(label: str, model: str) -> Case:
    return Case(label, "speed", model=model)


CASES: tuple[Case, ...] = (
    Case("ROUGE-L", "rouge", "rougeL_f1"),
    Case("BLEU", "bleu"),
    Case("chrF", "chrf"),
    Case("METEOR", "meteor:synonyms=wordnet"),
    Case("METEOR without synonyms", "meteor"),
    Case("SMS", "sms", model="minilm"),
    Case("MoverScore", "moverscore:layer=5", model="minilm"),
    Case("BERTScore-f, preset mini", "bertscore:layer=5", model="minilm"),
    Case("BERTScore-f, preset base", "bertscore:layer=7", model="mpnet"),
    Case("BERTScore-f, preset paper", "bertscore:layer=17", model="roberta-large"),
    _speed("SPEED, preset mini", "minilm"),
    _speed("SPEED, preset base", "mpnet"),
    _speed("SPEED, preset best4", BEST),
    _speed("SPEED, preset all8", ",".join(SENTENCE_MODELS)),
    *(_speed(f"SPEED, {model.rpartition('/')[2]}", model) for model in SENTENCE_MODELS),
)
PAPER = {
    "BLEU": "BLEU", "METEOR": "METEOR", "SMS": "SMS", "MoverScore": "MoverScore",
    "BERTScore-f, preset paper": "BERTScore-f", "SPEED, preset best4": "SPEED",
}  # fmt: skip
"""Our label → the label in table 2."""


def run(context: BenchmarkContext) -> Result:
    """Time each metric on SummEval with one reference."""
    cases = [
        Case(case.label, case.metric, case.part, _paper(case.label), case.model)
        for case in context.wanted(CASES)
    ]
    try:
        rows = _single(context.take("summeval"))
    except NotRunError as reason:
        lines = absent(cases, [SECONDS, AGREEMENT], f"not there: {reason}")
        return Result((Table(_title(), lines),))
    found: list[Line] = []
    points: list[tuple[str, float, float | None]] = []
    for case in cases:
        try:
            seconds, agreement, signature = _measure(context, case, rows)
        except NotRunError as reason:
            found += absent([case], [SECONDS, AGREEMENT], f"not run: {reason}")
            continue
        spec = case.metric or ""
        found.append(Line(case.label, SECONDS, seconds, metric=spec, n=len(rows), signature=signature))
        found.append(
            Line(
                case.label, AGREEMENT, agreement, case.paper.get(AGREEMENT), metric=spec, level="pooled",
                n=len(rows), signature=signature, note="" if agreement is not None else "undefined",
            )
        )  # fmt: skip
        points.append((case.label, seconds, agreement))
    series = tuple(Series(label, (x,), (y,)) for label, x, y in points)
    figure = Figure(
        "agreement", "Time and agreement", f"seconds for {len(rows)} rows", AGREEMENT, series, False
    )
    table = Table(_title(), tuple(found), NOTES)
    return Result((table,) if found else (), (figure,) if series else (), tuple(_says(points)))


def _title() -> str:
    return "Time and agreement (SPEED, figure 3)"


def _single(rows: Sequence[Row]) -> Sequence[Row]:
    return next(variant for variant in find("summeval").variants if variant.name == "1-reference").select(
        rows
    )


def _paper(label: str) -> Mapping[str, float]:
    known = FIGURES[2].get(PAPER.get(label, ""))
    return {AGREEMENT: round(fmean(known), 2)} if known else {}


def _measure(context: BenchmarkContext, case: Case, rows: Sequence[Row]) -> tuple[float, float | None, str]:
    """Return the time of one call, the mean correlation, and the signature.

    Raises:
        NotRunError: If the metric cannot be built.
    """
    examples = [row.example for row in rows]
    try:
        metric = context.build(str(case.metric), case.model)
        metric.score(examples[:WARM_UP])
        SHARED.clear()
        begin = time.perf_counter()
        scores = metric.score(examples)
        seconds = time.perf_counter() - begin
    except GistmeterError as error:
        raise NotRunError(str(error).partition(";")[0]) from error
    values = np.array(
        [score.value if case.part == "value" else score.parts.get(case.part, np.nan) for score in scores]
    )
    correlations = []
    for name in DIMENSIONS:
        human = np.array([row.scores.get(name, np.nan) for row in rows])
        sound = np.isfinite(values) & np.isfinite(human)
        correlations.append(pearson(values[sound], human[sound]))
    return seconds, number(fmean(correlations)), metric.signature.text


def _says(points: Sequence[tuple[str, float, float | None]]) -> list[str]:
    """Name the metrics that no other one beats in both time and agreement."""
    known = [(label, x, y) for label, x, y in points if y is not None]
    best = [
        f"{label} ({x:.1f} s, {y:.2f})"
        for label, x, y in known
        if not any(other < x and agreement >= y for _, other, agreement in known)
    ]
    return [f"No metric is both faster and closer to people than: {', '.join(best)}."] if best else []


SUITE = Suite("runtime", "How long, and how good", (Data("summeval"),), run)
