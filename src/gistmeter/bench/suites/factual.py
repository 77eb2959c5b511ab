"""Factual consistency: ClozE's table 2 per data set, time per summary, and ablations (table 6)."""

from collections.abc import Mapping, Sequence
from itertools import product

from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, absent, compare
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Data, Figure, Line, Result, Series, Table
from gistmeter.core.row import Row

SETS = {
    "xsumfaith": ("XSumFaith", "faithful_char_share"),
    "summeval": ("SummEval", "consistency"),
    "frank_cnndm": ("FRANK-CNN/DM", "Factuality"),
    "frank_xsum": ("FRANK-XSum", "Factuality"),
    "qags_cnndm": ("QAGS-CNN/DM", "consistency"),
    "qags_xsum": ("QAGS-XSum", "consistency"),
}
"""Data set → its name in the paper and the human dimension; never pooled."""
# Pearson's r in hundredths, in the order of SETS.
TABLE2: dict[str, tuple[str | None, tuple[float, ...]]] = {
    "BERTScore": ("bertscore:against=source,value=precision", (20.00, 24.19, 41.69, 19.26, 57.19, 1.83)),
    "BLANC-help": (None, (10.94, 17.08, 23.68, 12.22, 18.50, 4.01)),
    "FactCC": (None, (4.78, 42.11, 51.87, 8.15, 57.63, 34.16)),
    "ANLI": (None, (16.00, 43.00, 53.00, 18.00, 65.00, 39.00)),
    "SUMMAC": (None, (6.93, 49.67, 56.19, 32.24, 57.30, 44.01)),
    "SummaQA": (None, (14.82, 14.69, 16.14, 6.19, 28.28, 9.90)),
    "FEQA": (None, (29.44, 43.71, 52.50, 14.96, 55.81, 31.72)),
    "QAGS (factsumm)": (None, (11.90, 20.32, 26.06, 10.64, 22.65, 22.22)),
    "QUALS": (None, (36.81, 27.32, 49.21, 20.32, 56.97, 19.47)),
    "QuestEval": (None, (46.38, 37.75, 52.66, 30.05, 53.39, 27.81)),
    "QAFactEval": (None, (33.93, 61.06, 67.60, 38.42, 71.66, 49.03)),
    "ClozE-R +confidence": ("cloze", (19.22, 48.01, 55.12, 23.54, 65.59, 29.37)),
    "ClozE-B +confidence": ("cloze", (20.44, 36.47, 42.12, 20.89, 61.01, 21.99)),
}
BART = "KenLee/ClozE-bart-base-cnndm"
MODEL_OF = {"ClozE-B +confidence": BART}
CONTROLS = {
    "SPEED against the source": "speed:against=source",
    "MaskEval": "maskeval",
    "copied words": "extractive",
    "new bigrams": "novelty",
}
SETTINGS = tuple(product(("summary", "sentence"), ("en_core_web_sm", "en_core_web_trf"), (False, True)))
"""Level, spaCy pipeline, and whether the rule of confidence applies: one row of table 6 each."""
# Rows run only if the model and the spaCy pipeline are available. They include all rows of table 2.
TABLE6: dict[str, tuple[tuple[float, ...], ...]] = {
    "ClozE-R": (
        (16.45, 44.29, 49.70, 21.33, 65.76, 27.79),
        (17.19, 45.60, 49.39, 21.93, 66.30, 24.97),
        (18.67, 43.81, 49.31, 23.15, 65.24, 32.36),
        (19.20, 45.05, 48.71, 23.63, 65.90, 29.37),
        (16.45, 47.17, 57.27, 21.27, 65.20, 27.79),
        (17.09, 47.97, 56.82, 21.89, 64.93, 24.97),
        (18.66, 47.09, 55.38, 23.10, 66.12, 32.36),
        (19.22, 48.01, 55.12, 23.54, 65.59, 29.37),
    ),
    "ClozE-B": (
        (20.05, 38.17, 45.21, 19.31, 63.39, 20.56),
        (19.63, 37.52, 43.84, 20.12, 64.39, 21.62),
        (20.47, 40.08, 46.74, 20.38, 63.72, 19.60),
        (20.46, 39.52, 45.47, 20.86, 65.13, 22.16),
        (20.08, 35.33, 42.12, 19.27, 61.07, 20.56),
        (19.64, 34.77, 40.48, 20.09, 60.69, 21.62),
        (20.44, 36.82, 43.26, 20.40, 61.68, 19.42),
        (20.44, 36.47, 42.12, 20.89, 61.01, 21.99),
    ),
}
"""Model → a row for each of SETTINGS, in the order of SETS."""
AS_IN_THE_PAPER = "criterion=f1,aggregate=average,window=512,passage=0,copied=false"
"""Equation 2 and section 4.3.4, whatever the preset's own options are."""
SECONDS = {
    "FactCC": 0.06,
    "SUMMAC": 0.19,
    "SummaQA": 3.39,
    "FEQA": 3.00,
    "QAGS (factsumm)": 2.20,
    "QUALS": 1.01,
    "QuestEval": 4.37,
    "QAFactEval": 1.96,
    "ClozE-R +confidence": 0.23,
    "ClozE-B +confidence": 0.19,
}
TIMED = "qags_cnndm"


def run(context: BenchmarkContext) -> Result:
    """Run the metrics on each data set."""
    tables, seconds = [], []
    for at, (task, (title, dimension)) in enumerate(SETS.items()):
        lines, cut = _cases(at, dimension), _ablations(at, dimension)
        try:
            rows = context.take(task)
        except NotRunError as reason:
            tables.append(Table(title, absent([*lines, *cut], [dimension], f"not there: {reason}")))
            continue
        # Score all cases together: those with and without confidence share their fills.
        context.prepare(context.wanted([*lines, *cut]), rows)
        notes = (_less(rows),)
        tables.append(Table(f"{title} (ClozE, table 2)", compare(context, rows, lines, [dimension]), notes))
        tables.append(Table(f"{title}, ablations (ClozE, table 6)", compare(context, rows, cut, [dimension])))
        seconds += _seconds(context, lines, rows, title)
    seconds += [
        Line(label, f"seconds per summary, {SETS[TIMED][0]}", paper=paper, note="from the paper")
        for label, paper in SECONDS.items()
        if not context.only
    ]
    tables.append(Table("Time per summary (ClozE, table 2)", tuple(seconds), ("Paper: one RTX 3090.",)))
    shown = tuple(table for table in tables if table.lines)
    return Result(shown, (_figure(shown),), tuple(_says(shown)))


def _cases(at: int, dimension: str) -> list[Case]:
    paper = [
        Case(label, metric, paper={dimension: figures[at] / 100}, model=MODEL_OF.get(label))
        for label, (metric, figures) in TABLE2.items()
    ]
    return [*paper, *(Case(label, metric) for label, metric in CONTROLS.items())]


def _ablations(at: int, dimension: str) -> list[Case]:
    """Return the cases of table 6, and four of its settings with the included pipeline."""
    paper = [
        _case(*setting, name=name, paper={dimension: figures[at] / 100})
        for name, rows in TABLE6.items()
        for setting, figures in zip(SETTINGS, rows, strict=True)
    ]
    # With confidence first: the second case reuses cached fills, so its time is meaningless.
    return paper + [
        _case(level, None, sure) for level, sure in product(("summary", "sentence"), (True, False))
    ]


def _case(
    level: str, pipeline: str | None, sure: bool, *, name: str = "", paper: Mapping[str, float] | None = None
) -> Case:
    """Return a case of ClozE; without a name of a spaCy pipeline, with the included one."""
    label = f"{level} level, {pipeline or 'en (included)'}{', confidence' if sure else ''}"
    spec = f"cloze:{AS_IN_THE_PAPER},level={level},confidence={str(sure).lower()}"
    return Case(
        f"{name}, {label}" if name else label,
        f"{spec},pipeline={pipeline}" if pipeline else spec,
        paper=paper or {},
        model=BART if name == "ClozE-B" else None,
    )


def _less(rows: Sequence[Row]) -> str:
    documents = {row.example.doc_id for row in rows}
    return f"{len(rows)} rows, {len(documents)} documents."


def _seconds(context: BenchmarkContext, cases: Sequence[Case], rows: Sequence[Row], title: str) -> list[Line]:
    """Return the seconds per summary, as measured when the rows were first scored."""
    lines = []
    for case in context.wanted(cases):
        try:
            seconds, signature = context.seconds(case, rows), context.metric(case).signature.text
        except NotRunError:
            continue
        what = f"seconds per summary, {title}"
        metric = case.metric or ""
        lines.append(Line(case.label, what, seconds, metric=metric, n=len(rows), signature=signature))
    return lines


def _figure(tables: Sequence[Table]) -> Figure:
    """Plot our results and the paper's for ClozE, by data set."""
    found = [
        (table.title.partition(" (")[0], line)
        for table in tables
        for line in table.lines
        if line.label == "ClozE-R +confidence" and not line.dimension.startswith("seconds")
    ]
    names, lines = tuple(name for name, _ in found), [line for _, line in found]
    series = (
        Series("ours", names, tuple(line.ours for line in lines)),
        Series("paper", names, tuple(line.paper for line in lines)),
    )
    return Figure("cloze", "ClozE, set by set", "", "pooled Pearson", series, connected=False)


def _says(tables: Sequence[Table]) -> list[str]:
    """Compare ClozE with the best baseline on each data set, by |r|: the sign of a baseline is known."""
    said = []
    for table in tables:
        if "table 2" not in table.title or table.title.startswith("Time"):
            continue
        found = {line.label: line for line in table.lines if line.ours is not None}
        cloze = found.pop("ClozE-R +confidence", None)
        if cloze is None or not found:
            continue
        best = max(found.values(), key=lambda line: abs(line.ours or 0.0))
        said.append(
            f"{table.title.partition(' (')[0]}: ClozE {cloze.ours:.2f}, best baseline by |r| `{best.metric}` "
            f"{best.ours:.2f} ({cloze.n} rows)."
        )
    return said


SUITE = Suite("factual", "Factual consistency, set by set", tuple(Data(task) for task in SETS), run)
