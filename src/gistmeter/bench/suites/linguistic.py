"""Linguistic quality: SUM-QE's tables 1 and 2 and figure 3 on DUC, and substitute data sets."""

import math
from collections import defaultdict
from collections.abc import Sequence
from math import isfinite, nan
from statistics import fmean, pstdev

from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, absent, compare
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Data, Figure, Line, Result, Series, Table
from gistmeter.core.levels import Level
from gistmeter.core.row import Row

QUALITIES = {
    "Q1": "grammaticality",
    "Q2": "non_redundancy",
    "Q3": "referential_clarity",
    "Q4": "focus",
    "Q5": "coherence",
}
"""DUC question → component of sumqe."""
YEARS = {"duc05": "DUC-05", "duc06": "DUC-06", "duc07": "DUC-07"}
# Pearson's r between systems, by method and quality, in the order of YEARS; nan: illegible in our copy.
TABLE1: dict[str, dict[str, tuple[float, float, float]]] = {
    "BEST-ROUGE": {
        "Q1": (0.033, 0.331, 0.506), "Q2": (nan, -0.408, nan), "Q3": (0.166, 0.372, 0.407),
        "Q4": (0.270, 0.475, 0.563), "Q5": (0.039, 0.023, 0.293),
    },
    "GPT-2": {"Q1": (0.637, 0.593, 0.675)},
    "BERT-FR-LM": {"Q1": (0.025, 0.667, 0.566)},
    "BERT-FR-NS": {"Q3": (-0.138, 0.494, 0.085), "Q4": (-0.106, 0.508, 0.089), "Q5": (-0.140, 0.285, 0.015)},
    "BiGRU-ATT-M-5": {
        "Q1": (0.040, 0.771, 0.584), "Q2": (-0.124, 0.399, 0.238), "Q3": (0.492, 0.719, 0.655),
        "Q4": (0.160, 0.691, 0.657), "Q5": (-0.113, 0.540, 0.506),
    },
    "BERT-FT-S-1": {
        "Q1": (0.817, 0.929, 0.930), "Q2": (0.499, 0.679, 0.689), "Q3": (0.796, 0.901, 0.936),
        "Q4": (0.578, 0.853, 0.902), "Q5": (0.477, 0.810, 0.857),
    },
    "BERT-FT-M-1": {
        "Q1": (0.805, 0.902, 0.896), "Q2": (0.494, 0.789, 0.799), "Q3": (0.761, 0.882, 0.891),
        "Q4": (0.642, 0.842, 0.905), "Q5": (0.512, 0.726, 0.803),
    },
    "BERT-FT-M-5": {
        "Q1": (0.802, 0.925, 0.902), "Q2": (0.471, 0.674, 0.740), "Q3": (0.732, 0.919, 0.895),
        "Q4": (0.739, 0.911, 0.867), "Q5": (0.586, 0.892, 0.843),
    },
}  # fmt: skip
# Mean and standard deviation of the systems' mean manual scores, in the order of YEARS.
TABLE2: dict[str, tuple[tuple[float, float], ...]] = {
    "Q1": ((3.77, 0.42), (3.58, 0.60), (3.54, 0.78)),
    "Q2": ((4.41, 0.20), (4.23, 0.26), (3.71, 0.31)),
    "Q3": ((2.99, 0.50), (3.11, 0.52), (3.20, 0.66)),
    "Q4": ((3.15, 0.41), (3.60, 0.39), (3.30, 0.47)),
    "Q5": ((2.18, 0.46), (2.39, 0.51), (2.42, 0.59)),
}
OURS = "BERT-FT-M-5"
BY_RECIPE = "gistmeter train recipes/sumqe-table1.toml measures it"
ROUGE_L = "ROUGE-L; recipes/sumqe-table1.toml chooses the best of 30 versions"
STAND_INS: dict[str, dict[str, str]] = {
    "chaganty_lq": {"grammar": "grammaticality", "redundancy": "non_redundancy"},
    "summeval": {"fluency": "grammaticality", "coherence": "coherence"},
    "dialsummeval": {"fluency": "grammaticality", "coherence": "coherence"},
    "newsroom": {"fluency": "grammaticality", "coherence": "coherence"},
}
"""Substitute data sets: human dimension → closest quality."""
UNIT, SCALE = "standard deviations from the mean of the systems", "mean score, 1 to 5"
TRAINED = "The model card lists the training data; on rows that sumqe was trained on, this is not a test."
FIGURE3 = {"Q2": "non_redundancy", "Q3": "referential_clarity"}


def run(context: BenchmarkContext) -> Result:
    """Run sumqe on DUC, if available, and on the substitute data sets."""
    tables, pictures = [], []
    for at, (task, title) in enumerate(YEARS.items()):
        table = _duc(context, at, task, title)
        tables += [table, _ratings(context, at, task, title)]
        if task in context.rows:
            pictures += _figures(context, context.rows[task], title, FIGURE3, SCALE)
    for task, names in STAND_INS.items():
        tables.append(_stand_in(context, task, names))
        if task == "chaganty_lq" and task in context.rows:
            pictures += _figures(context, context.rows[task], task, names, UNIT)
    shown = tuple(table for table in tables if table.lines)
    return Result(shown, tuple(pictures), tuple(_says(shown)))


def _duc(context: BenchmarkContext, at: int, task: str, title: str) -> Table:
    title = f"{title} (SUM-QE, table 1)"
    try:
        rows = context.take(task)
    except NotRunError as reason:
        cases = [_case(label, None, columns, at) for label, columns in TABLE1.items()]
        return Table(title, absent(cases, list(QUALITIES), f"not there: {reason}"))
    lines = [
        line
        for quality, part in QUALITIES.items()
        for label, columns in TABLE1.items()
        for line in compare(context, rows, [_case(label, part, columns, at)], [quality], "system")
    ]
    return Table(title, tuple(lines))


def _case(label: str, part: str | None, columns: dict[str, tuple[float, float, float]], at: int) -> Case:
    metrics = {OURS: "sumqe", "BEST-ROUGE": "rouge"}
    notes = {OURS: "", "BEST-ROUGE": ROUGE_L}
    paper = {quality: values[at] for quality, values in columns.items() if isfinite(values[at])}
    part = part or "value" if label == OURS else "value"
    return Case(label, metrics.get(label), part, paper, note=notes.get(label, BY_RECIPE))


def _ratings(context: BenchmarkContext, at: int, task: str, title: str) -> Table:
    """Compare the mean manual scores of the systems with table 2; omitted if only some metrics are run."""
    title = f"{title}, mean manual scores (SUM-QE, table 2)"
    rows = context.rows.get(task, ())
    lines: list[Line] = []
    for quality, published in TABLE2.items() if not context.only else ():
        means = list(_by_system([row.scores.get(quality) for row in rows], rows).values())
        ours = (fmean(means), pstdev(means)) if means else (None, None)
        signature, level = ("manual scores", "system") if means else ("", "")
        note = "" if means else f"not there: {context.absent.get(task, f'no file of {task} in the data')}"
        lines += [
            Line(
                "people", f"{quality}: {name}", own, paper, level=level, n=len(means),
                signature=signature, note=note,
            )
            for name, own, paper in zip(("mean", "standard deviation"), ours, published[at], strict=True)
        ]  # fmt: skip
    return Table(title, tuple(lines))


def _stand_in(context: BenchmarkContext, task: str, names: dict[str, str]) -> Table:
    """Correlate each quality with the matching component of sumqe, and with general baselines."""
    title = f"{task}: closest DUC qualities"
    try:
        rows = context.take(task)
    except NotRunError as reason:
        cases = [Case("SUM-QE", "sumqe")]
        return Table(title, absent(cases, list(names), f"not there: {reason}"))
    lines: list[Line] = []
    levels: tuple[Level, ...] = ("system", "pooled")
    for name, part in names.items():
        cases = [Case(f"SUM-QE, {part.replace('_', ' ')}", "sumqe", part)]
        if any(row.example.references for row in rows):
            cases += [Case("ROUGE-L", "rouge"), Case("BERTScore-f", "bertscore")]
        for level in levels:
            lines += compare(context, rows, cases, [name], level)
    size = f"{len(rows)} rows, {len({row.example.system for row in rows})} systems."
    return Table(title, tuple(lines), (f"{size} {TRAINED}",))


def _figures(
    context: BenchmarkContext, rows: Sequence[Row], title: str, names: dict[str, str], unit: str
) -> list[Figure]:
    """Plot each system's mean judgement and mean prediction, best system first (figure 3).

    Data sets with other scales than sumqe's are standardized.
    """
    shown = _standardized if unit == UNIT else dict[str, float]
    pictures = []
    for name, part in names.items():
        case = Case("SUM-QE", "sumqe", part)
        try:
            values = context.values(case, rows) if context.wanted([case]) else None
        except NotRunError:
            values = None
        if values is None:
            continue
        judged = [row.scores.get(name) for row in rows]
        human, ours = (shown(_by_system(own, rows)) for own in (judged, values.tolist()))
        order = sorted(set(human) & set(ours), key=lambda system: -human[system])
        series = (
            Series("people", tuple(order), tuple(human[system] for system in order)),
            Series("sumqe", tuple(order), tuple(ours[system] for system in order)),
        )
        figure = f"{title}, {name}".lower().replace(", ", "-")
        pictures.append(Figure(figure, f"{title}, {name}: systems' means", "system", unit, series))
    return pictures


def _by_system(values: Sequence[float | None], rows: Sequence[Row]) -> dict[str, float]:
    """Return the mean of each system."""
    groups: dict[str, list[float]] = defaultdict(list)
    for value, row in zip(values, rows, strict=True):
        if value is not None and not math.isnan(value) and row.example.system:
            groups[row.example.system].append(value)
    return {system: fmean(own) for system, own in groups.items()}


def _standardized(means: dict[str, float]) -> dict[str, float]:
    """Return system means as standard deviations from their mean."""
    middle, spread = fmean(means.values()), pstdev(means.values()) or 1.0
    return {system: (mean - middle) / spread for system, mean in means.items()}


def _says(tables: Sequence[Table]) -> list[str]:
    said = [
        f"{table.title.partition(' (')[0].partition(':')[0]}, {line.dimension} by {line.label}: "
        f"{line.ours:.2f} over {line.n} systems."
        for table in tables
        for line in table.lines
        if line.metric.startswith("sumqe") and line.ours is not None and line.level == "system"
    ]
    return said or ["sumqe was not run; the notes in the tables give the reason."]


SUITE = Suite(
    "linguistic",
    "Grammar, redundancy, clarity, focus, coherence",
    tuple(map(Data, [*YEARS, *STAND_INS])),
    run,
)
