"""GO FIGURE: sensitivity of metrics to errors, and ClozE's corrections. ClozE's tables 3, 4 and 5."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gistmeter.bench.suites.analyses.cloze import Corrections, corrections
from gistmeter.bench.suites.analyses.gofigure import FAMILIES, Family, sensitivity
from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, absent, number
from gistmeter.bench.suites.gofigure_paper import FIGURES, STATES, WORDS, paper_figures
from gistmeter.bench.suites.gofigure_texts import DATA, SETS, TextSet, injected, own_texts
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Figure, Line, Result, Series, Table

TITLES = {"cnndm": "CNN/DM", "xsum": "XSum"}
NUMBERS = {"cnndm": 3, "xsum": 4}
CASES = (
    Case("ClozE-R", "cloze"),
    Case("SPEED against the source", "speed:against=source"),
    Case("BERTScore against the source", "bertscore:against=source,value=precision"),
    Case("copied words", "extractive"),
)
CORRELATION = (
    "correlation: Pearson's r of the levels 1, 2, 3 with their mean scores, as in the paper; p has one "
    "degree of freedom. noticed: the share of texts with one error that score lower than without.",
    "With criterion=geometric in the signature, ClozE's value is a probability; the paper uses token F1. "
    "Compare the decrease, not the absolute value.",
)
OWN = (
    "GO FIGURE's own texts, as in the paper: the references with at most as many errors as the level, which "
    "can be none, and its random summaries as lower bound.",
    *CORRELATION,
)
INJECTED = (
    "gistmeter injects the errors: the same texts at every level, with exactly as many errors as the level. "
    "The lower bound is the summary of another document.",
    *CORRELATION,
    "noticed, replaced and noticed, deleted: the same share for the errors that replace a phrase and for "
    "those that delete one. What remains after a deletion is often still true.",
)
CORRECTED = (
    "Texts with one injected error (level 1), without deletions. The paper shows three examples and reports "
    "no rate. within a factor: share of the errors that lie within a factor that ClozE fills. corrected: of "
    "those, the share for which the prediction equals the original text. suggested: of those, the share for "
    "which it is also confident enough to be suggested.",
)


def run(context: BenchmarkContext) -> Result:
    """Score GO FIGURE's texts, and references with injected errors, and count ClozE's corrections."""
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
        made = injected([row.example for row in own], pipeline, seed=context.seed)
        try:
            lines, figure = _measure(context, own_texts(context, own), name, published=True)
            tables.append(Table(_own_title(name), lines, OWN))
            pictures.append(replace(figure, name=f"own-{name}", title=f"GO FIGURE's texts, {name}"))
        except NotRunError as reason:
            tables.append(_absent(name, str(reason)))
        lines, figure = _measure(context, made, name, published=False)
        tables.append(Table(f"{title}, errors injected by gistmeter", lines, INJECTED))
        pictures.append(figure)
        corrected = _corrected(context, made)
        if corrected:
            tables.append(Table(f"{title}, corrected errors (ClozE, table 5)", tuple(corrected), CORRECTED))
    return Result(tuple(tables), tuple(pictures), tuple(_says(tables)))


def _own_title(name: str) -> str:
    return f"{TITLES[name]}, GO FIGURE's texts (ClozE, table {NUMBERS[name]})"


def _measure(
    context: BenchmarkContext, texts: Mapping[Family, TextSet], name: str, *, published: bool
) -> tuple[tuple[Line, ...], Figure]:
    """Score one set of texts in all states.

    Args:
        context: Context with scores.
        texts: Texts of each family of errors.
        name: `cnndm` or `xsum`.
        published: Whether to show the paper's figures.
    """
    cases = _all_cases(context, name, published=published)
    context.prepare(cases, [row for own in texts.values() for state in own.states for row in state])
    lines: list[Line] = []
    series: list[Series] = []
    for case in cases:
        for family in FAMILIES:
            own = _lines(context, case, family, texts[family])
            lines += own
            series += _series(case, family, own)
    return tuple(lines), Figure(name, f"Injected errors, {name}", "", "mean score", tuple(series))


def _all_cases(context: BenchmarkContext, name: str, *, published: bool) -> list[Case]:
    """Return the suite's metrics, the other requested metrics, and, if published, the paper's."""
    own = {case.label for case in CASES}
    theirs = [Case(label, None) for label in FIGURES[name] if label not in own]
    further = [Case(spec, spec) for spec in context.only if spec not in {case.metric for case in CASES}]
    cases = [*context.wanted(CASES), *further]
    if not published:
        return cases
    cases = [*(theirs if not context.only else []), *cases]
    return [replace(case, paper=paper_figures(name, case.label)) for case in cases]


def _lines(context: BenchmarkContext, case: Case, family: Family, texts: TextSet) -> list[Line]:
    names = [f"{WORDS[family]}: {name}" for name in (*STATES, "correlation", "p", "noticed")]
    try:
        context.metric(case)  # report a missing metric before missing texts
        values = [context.values(case, state) for state in texts.states] if texts.states[0] else []
        if not values:
            raise NotRunError("no text has room for three errors of this kind")
    except NotRunError as reason:
        known = [name for name in names if name in case.paper] or [WORDS[family]]
        return list(absent([case], known, f"not run: {reason}"))
    levels = [value.tolist() for value in values[1:-1]]
    found = sensitivity(values[0].tolist(), levels, values[-1].tolist(), texts.changed)
    figures = (found.upper, *found.levels, found.lower, found.correlation, found.p, found.noticed)
    signature = context.metric(case).signature.text
    note = f"{found.n_undefined} undefined" if found.n_undefined else ""
    lines = [
        Line(
            case.label, name, number(value), case.paper.get(name), metric=case.metric or "",
            level="texts", n=found.n, signature=signature,
            note=note or ("" if np.isfinite(value) else "undefined"),
        )
        for name, value in zip(names, figures, strict=True)
    ]  # fmt: skip
    parts = [
        Line(
            case.label, f"{names[-1]}, {part}", number(share), metric=case.metric or "", level="texts", n=n,
            signature=signature,
        )
        for part, share, n in _by_operation(values, texts)
    ]  # fmt: skip
    return [*lines, *parts]


def _by_operation(values: Sequence[NDArray[np.float64]], texts: TextSet) -> Iterator[tuple[str, float, int]]:
    """Yield the share of lowered scores and the number of texts by what the error does, if both are known."""
    replaced = np.array([bool(changes) for changes in texts.changes])
    if not replaced.any():
        return  # GO FIGURE does not say where the errors of its texts are
    upper, *levels, lower = (value.tolist() for value in values)
    sound = np.isfinite(values).all(axis=0)
    for part, own in (("replaced", replaced), ("deleted", ~replaced)):
        if (own & sound).any():
            noticed = sensitivity(upper, levels, lower, own.tolist()).noticed
            yield part, noticed, int((own & sound).sum())


def _corrected(context: BenchmarkContext, made: Mapping[Family, TextSet]) -> list[Line]:
    """Return how many errors of level 1 ClozE corrects, for the requested configurations of ClozE."""
    cases = [case for case in _all_cases(context, "cnndm", published=False) if case.metric]
    lines: list[Line] = []
    for case in cases:
        if str(case.metric).partition(":")[0] != "cloze":
            continue
        for family in FAMILIES:
            lines += _correction_lines(context, case, family, made[family])
    return lines


def _correction_lines(context: BenchmarkContext, case: Case, family: Family, texts: TextSet) -> list[Line]:
    known = [
        (row.example, changes) for row, changes in zip(texts.states[1], texts.changes, strict=True) if changes
    ]
    try:
        metric = context.metric(case, spans=True)
    except NotRunError as reason:
        return list(absent([case], [WORDS[family]], f"not run: {reason}"))
    examples = [example for example, _ in known]
    found = corrections(examples, metric.score(examples), [changes for _, changes in known])
    signature = metric.signature.text
    return [
        Line(
            case.label, f"{WORDS[family]}: {name}", number(value), metric=case.metric or "", level="errors",
            n=n, signature=signature if n else "", note="" if n else "undefined: no such error",
        )
        for name, value, n in _shares(found)
    ]  # fmt: skip


def _shares(found: Corrections) -> list[tuple[str, float, int]]:
    """Return the name, the value and the number of errors of each share."""
    return [
        ("within a factor", found.factors / found.changes if found.changes else math.nan, found.changes),
        ("corrected", found.rate, found.factors),
        ("suggested", found.suggested / found.factors if found.factors else math.nan, found.factors),
    ]


def _series(case: Case, family: Family, lines: Sequence[Line]) -> list[Series]:
    known = {line.dimension.partition(": ")[2]: line for line in lines}
    means = tuple(known[state].ours if state in known else None for state in STATES)
    if not np.isfinite([mean for mean in means if mean is not None]).any():
        return []
    return [Series(f"{case.label}, {WORDS[family]}", STATES, means)]


def _absent(name: str, reason: str) -> Table:
    cases = [Case(label, None, paper=paper_figures(name, label)) for label in FIGURES[name]]
    lines = (line for case in cases for line in absent([case], list(case.paper), f"not there: {reason}"))
    return Table(_own_title(name), tuple(lines))


def _says(tables: Sequence[Table]) -> list[str]:
    """Summarize how often a single error lowers the score, and how often ClozE corrects it."""
    said = []
    for table in tables:
        name = table.title.partition(" (")[0]
        for family in FAMILIES:
            kind = WORDS[family].removesuffix("s")
            noticed = _shown(table, f"{WORDS[family]}: noticed")
            if noticed:
                said.append(f"{name}, share of texts with a score lowered by one {kind}: {noticed}.")
            corrected = _shown(table, f"{WORDS[family]}: corrected")
            if corrected:
                said.append(f"{name}, share of errors within a factor ({kind}): {corrected}.")
    return said


def _shown(table: Table, dimension: str) -> str:
    lines = [line for line in table.lines if line.dimension == dimension and line.ours is not None]
    return ", ".join(f"{line.label} {line.ours:.2f}" for line in lines)


SUITE = Suite("gofigure", "Errors put in on purpose", tuple(SETS.values()), run)
