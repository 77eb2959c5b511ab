"""GO FIGURE: sensitivity of metrics to injected errors. ClozE's tables 3 (CNN/DM) and 4 (XSum)."""

from collections.abc import Sequence

import numpy as np

from gistmeter.bench.suites.analyses.gofigure import (
    FAMILIES,
    LEVELS,
    Corrupted,
    Family,
    corrupt,
    others,
    sensitivity,
)
from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, absent, number
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Data, Figure, Line, Result, Series, Table
from gistmeter.core.example import Example
from gistmeter.core.row import Row
from gistmeter.text.factors import Pipeline

DATA = "gofigure_auto"
TITLES = {"cnndm": "CNN/DM (ClozE, table 3)", "xsum": "XSum (ClozE, table 4)"}
STATES = ("upper bound", "level 1", "level 2", "level 3", "lower bound")
WORDS: dict[Family, str] = {"entity": "entity errors", "other": "other errors"}
CASES = (
    Case("ClozE-R", "cloze"),
    Case("SPEED against the source", "speed:against=source"),
    Case("BERTScore against the source", "bertscore:against=source,value=precision"),
    Case("copied words", "extractive"),
)
NOTES = (
    "gistmeter injects the errors: the same texts at every level, with exactly as many errors as the "
    "level. The paper uses GO FIGURE's texts, with at most as many errors.",
    "correlation: Pearson's r of the levels 1, 2, 3 with their mean scores, as in the paper; p has one "
    "degree of freedom. noticed: the share of texts that score lower with one error than without.",
    "With criterion=geometric in the signature, ClozE's value is a probability; the paper uses token F1. "
    "Compare the decrease, not the absolute value.",
)
# Entity errors, other errors: upper bound, levels 1 to 3, lower bound in hundredths, and the correlation.
Column = tuple[float, float, float, float, float, float]
PAPER: dict[str, dict[str, tuple[Column, Column]]] = {
    "cnndm": {
        "FactCC": ((44.04, 36.44, 32.30, 29.58, 22.29, -0.99), (44.04, 38.71, 33.80, 28.89, 22.29, -1.00)),
        "SUMMAC": ((27.14, 16.07, 10.70, 2.99, -18.87, -0.99), (27.14, 11.28, 0.30, -9.99, -18.87, -1.00)),
        "SummaQA": ((10.87, 9.58, 8.53, 7.54, 0.12, -1.00), (10.87, 10.63, 10.38, 10.26, 0.12, -0.98)),
        "FEQA": ((37.56, 33.35, 28.46, 25.12, 0.58, -0.99), (37.56, 36.64, 36.13, 35.63, 0.58, -1.00)),
        "QuestEval": ((34.63, 31.92, 30.41, 28.45, 0.68, -1.00), (34.63, 32.31, 30.67, 29.21, 0.68, -1.00)),
        "QAFactEval": ((46.63, 37.27, 31.66, 27.34, 0.01, -0.99), (46.63, 37.70, 32.07, 25.79, 0.01, -0.99)),
        "ClozE-R": ((70.10, 64.80, 61.00, 57.16, 18.77, -1.00), (70.10, 69.28, 69.05, 68.40, 18.77, -0.96)),
        "ClozE-B": ((48.90, 45.58, 43.14, 40.38, 7.38, -1.00), (48.90, 48.44, 47.97, 47.60, 7.38, -1.00)),
    },
    "xsum": {
        "FactCC": ((22.40, 15.59, 11.97, 11.34, 23.68, -0.92), (22.40, 13.96, 7.86, 5.67, 23.68, -0.96)),
        "SummaQA": ((4.48, 3.80, 3.40, 3.13, 0.26, -0.99), (4.48, 4.31, 4.22, 4.14, 0.26, -1.00)),
        "FEQA": ((27.87, 23.20, 20.05, 15.81, 1.18, -1.00), (27.87, 26.94, 26.55, 26.06, 1.18, -0.99)),
        "QuestEval": ((19.95, 18.14, 16.78, 14.84, 0.23, -0.99), (19.95, 17.47, 16.01, 14.44, 0.23, -1.00)),
        "QAFactEval": ((14.70, 9.79, 7.15, 5.11, 0.00, -0.99), (14.70, 9.48, 7.15, 5.11, 0.00, -0.99)),
        "ClozE-R": ((65.00, 57.94, 51.63, 47.55, 35.95, -0.99), (65.00, 64.43, 63.97, 63.09, 35.95, -0.98)),
        "ClozE-B": ((44.13, 45.58, 43.14, 40.38, 10.70, -1.00), (44.13, 48.44, 47.97, 47.60, 10.70, -1.00)),
    },
}


def run(context: BenchmarkContext) -> Result:
    """Inject errors into the references of each data set and score them."""
    try:
        rows = context.take(DATA)
    except NotRunError as reason:
        return Result(tuple(_absent(name, str(reason)) for name in TITLES))
    from gistmeter.text.factors import load_pipeline

    pipeline = load_pipeline("en")
    tables, pictures = [], []
    for name, title in TITLES.items():
        own = [row for row in rows if row.example.system == name]
        if len({row.example.candidate for row in own}) < 2:
            tables.append(_absent(name, f"no two documents of {name} in the data"))
            continue
        lines, figure = _set(context, own, name, pipeline)
        tables.append(Table(title, lines, NOTES))
        pictures.append(figure)
    return Result(tuple(tables), tuple(pictures), tuple(_says(tables)))


def _set(
    context: BenchmarkContext, rows: Sequence[Row], name: str, pipeline: Pipeline
) -> tuple[tuple[Line, ...], Figure]:
    """Score one data set in all states."""
    examples = [row.example for row in rows]
    made = corrupt([(e.candidate, e.source or "") for e in examples], pipeline, seed=context.seed)
    strangers = others([example.candidate for example in examples])
    states: dict[Family, list[list[Row]]] = {}
    for family in FAMILIES:
        kept = [at for at, levels in enumerate(made) if family in levels]
        levels = [made[at][family] for at in kept]
        states[family] = _states([examples[at] for at in kept], levels, [strangers[at] for at in kept])
    cases = _all_cases(context, name)
    context.prepare(cases, [row for own in states.values() for state in own for row in state])
    lines: list[Line] = []
    series: list[Series] = []
    for case in cases:
        for family in FAMILIES:
            own = _lines(context, case, family, states[family])
            lines += own
            series += _series(case, family, own)
    return tuple(lines), Figure(name, f"Errors and scores, {name}", "", "mean score", tuple(series))


def _all_cases(context: BenchmarkContext, name: str) -> list[Case]:
    """Return the paper's metrics with their published results, and the other requested metrics."""
    own = {case.label: case for case in CASES}
    theirs = [Case(label, None) for label in PAPER[name] if label not in own]
    further = [Case(spec, spec) for spec in context.only if spec not in {case.metric for case in CASES}]
    cases = [*(theirs if not context.only else []), *context.wanted(CASES), *further]
    return [Case(case.label, case.metric, paper=_paper(PAPER[name].get(case.label, ()))) for case in cases]


def _paper(columns: Sequence[Column]) -> dict[str, float]:
    known = {}
    for family, column in zip(FAMILIES, columns, strict=False):
        for state, value in zip(STATES, column, strict=False):
            known[f"{WORDS[family]}: {state}"] = value / 100
        known[f"{WORDS[family]}: correlation"] = column[-1]
    return known


def _states(
    examples: Sequence[Example], levels: Sequence[Sequence[Corrupted]], strangers: Sequence[str]
) -> list[list[Row]]:
    """Return the rows of the five states: no errors, levels 1 to 3, another document's summary."""
    texts = [[e.candidate for e in examples]]
    texts += [[own[level].text for own in levels] for level in range(LEVELS)]
    texts.append(list(strangers))
    return [
        [Row(Example(e.id, text, e.source)) for e, text in zip(examples, state, strict=True)]
        for state in texts
    ]


def _lines(
    context: BenchmarkContext, case: Case, family: Family, states: Sequence[Sequence[Row]]
) -> list[Line]:
    names = [f"{WORDS[family]}: {name}" for name in (*STATES, "correlation", "p", "noticed")]
    try:
        context.metric(case)  # report a missing metric before missing texts
        values = [context.values(case, state) for state in states] if states[0] else []
        if not values:
            raise NotRunError("no text has room for three errors of this kind")
    except NotRunError as reason:
        known = [name for name in names if name in case.paper] or [WORDS[family]]
        return list(absent([case], known, f"not run: {reason}"))
    found = sensitivity(values[0].tolist(), [v.tolist() for v in values[1:-1]], values[-1].tolist())
    figures = (found.upper, *found.levels, found.lower, found.correlation, found.p, found.noticed)
    signature = context.metric(case).signature.text
    note = f"{found.n_undefined} undefined" if found.n_undefined else ""
    return [
        Line(
            case.label, name, number(value), case.paper.get(name), metric=case.metric or "",
            level="texts", n=found.n, signature=signature, note=note,
        )
        for name, value in zip(names, figures, strict=True)
    ]  # fmt: skip


def _series(case: Case, family: Family, lines: Sequence[Line]) -> list[Series]:
    known = {line.dimension.partition(": ")[2]: line for line in lines}
    means = tuple(known[state].ours if state in known else None for state in STATES)
    if not np.isfinite([mean for mean in means if mean is not None]).any():
        return []
    return [Series(f"{case.label}, {WORDS[family]}", STATES, means)]


def _absent(name: str, reason: str) -> Table:
    cases = [Case(label, None, paper=_paper(columns)) for label, columns in PAPER[name].items()]
    lines = (line for case in cases for line in absent([case], list(case.paper), f"not there: {reason}"))
    return Table(TITLES[name], tuple(lines))


def _says(tables: Sequence[Table]) -> list[str]:
    """Summarize how often a single error lowers the score."""
    said = []
    for table in tables:
        found = [line for line in table.lines if line.dimension.endswith("noticed") and line.ours is not None]
        for family in FAMILIES:
            own = [line for line in found if line.dimension.startswith(WORDS[family])]
            if own:
                shares = ", ".join(f"{line.label} {line.ours:.2f}" for line in own)
                kind = WORDS[family].removesuffix("s")
                name = table.title.partition(" (")[0]
                said.append(f"{name}, share of texts with a score lowered by one {kind}: {shares}.")
    return said


FIELDS = {"candidate": "reference", "system": "dataset"}
SUITE = Suite("gofigure", "Errors put in on purpose", (Data(DATA, FIELDS),), run)
