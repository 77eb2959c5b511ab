"""SummEval: MaskEval's table 1, SPEED's tables 1 to 8, and all metrics."""

from collections.abc import Mapping, Sequence

from gistmeter.bench.datasets.dataset import find
from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, absent, compare
from gistmeter.bench.suites.speed_cases import ENSEMBLES, SYSTEMS, cases_of_table
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Data, Figure, Line, Result, Series, Table, figures
from gistmeter.core.row import Row
from gistmeter.metrics.baselines.likelihood import PRESETS
from gistmeter.metrics.maskeval.training.split import PAPER_SHARE, draw_apart

ORDER = "consistency coherence fluency relevance"
DIMENSIONS = ORDER.split()
LEARNED = "its weights were trained on four fifths of these articles; the model card has held-out results"
SEEN = {
    "sumqe": "its regressor was trained on these rows; the metric's README has cross-validated results on "
    "held-out articles",
    "quality": "fitted to these rows; its model card has results on left-out articles and systems",
}
"""Metrics trained on the development rows, whose results there are not a test."""
REFERENCES: dict[str, tuple[Case, ...]] = {
    "11-references": (
        Case("ROUGE-1", "rouge", "rouge1_f1", figures(ORDER, 0.181, 0.201, 0.149, 0.356)),
        Case("ROUGE-L", "rouge", "rougeL_f1", figures(ORDER, 0.157, 0.156, 0.138, 0.334)),
        Case("BLEU", "bleu", paper=figures(ORDER, 0.175, 0.220, 0.137, 0.356)),
        Case("BERTScore-f", "bertscore", paper=figures(ORDER, 0.203, 0.185, 0.216, 0.319)),
    ),
    "1-reference": (
        Case("ROUGE-1", "rouge", "rouge1_f1", figures(ORDER, 0.110, 0.098, 0.075, 0.189)),
        Case("ROUGE-L", "rouge", "rougeL_f1", figures(ORDER, 0.082, 0.073, 0.057, 0.135)),
        Case("BLEU", "bleu", paper=figures(ORDER, 0.089, 0.039, 0.040, 0.127)),
        Case("BERTScore-f", "bertscore", paper=figures(ORDER, 0.087, 0.098, 0.106, 0.179)),
    ),
}
SOURCE: tuple[Case, ...] = (
    Case(
        "BARTScore",
        "likelihood",
        paper=figures(ORDER, 0.371, 0.413, 0.331, 0.448),
        model=PRESETS["paper"],
        note="the paper's variant also averages over prompts",
    ),
    Case("PRISM", None, paper=figures(ORDER, 0.297, 0.281, 0.248, 0.297)),
    Case("SummaQA", None, paper=figures(ORDER, 0.083, 0.080, -0.029, 0.262)),
    Case("QAGS", None, paper=figures(ORDER, 0.204, 0.077, 0.168, 0.091)),
    Case("QuestEval", None, paper=figures(ORDER, 0.420, 0.240, 0.284, 0.392)),
    Case("MaskEval, uniform", "maskeval", paper=figures(ORDER, 0.446, 0.276, 0.406, 0.356)),
    Case("MaskEval, learned", "maskeval:dimension={dimension}", note=LEARNED),
)
SUBSET = "Test part of the weights, 900 of 1600 pairs (MaskEval, table 1)"
TESTED: tuple[Case, ...] = (
    Case("MaskEval, uniform", "maskeval", paper=figures(ORDER, 0.441, 0.273, 0.423, 0.355)),
    Case(
        "MaskEval, learned",
        "maskeval:dimension={dimension}",
        paper=figures(ORDER, 0.460, 0.293, 0.449, 0.401),
        note=LEARNED,
    ),
)
"""The paper draws the other 700 pairs at random, so both parts have summaries of the same articles."""
EVERY = (
    "speed:references=max",
    "speed:against=source",
    "bertscore:against=source",
    "bertscore:against=source,value=precision",
)
"""Useful non-default configurations."""


def run(context: BenchmarkContext) -> Result:
    """Compute all tables."""
    try:
        rows = context.take("summeval")
    except NotRunError as reason:
        return Result(tuple(_absent(str(reason))))
    task = find("summeval")
    parts = {variant.name: variant.select(rows) for variant in task.variants}
    # Run these first, because they share fills.
    source = Table("No reference (MaskEval, table 1)", compare(context, rows, SOURCE, DIMENSIONS))
    every = _every(context, rows)
    tables = [
        Table(
            f"{name.replace('-', ' ')} (MaskEval, table 1)", compare(context, parts[name], cases, DIMENSIONS)
        )
        for name, cases in REFERENCES.items()
    ]
    tables += [source, Table(SUBSET, compare(context, _tested(rows), TESTED, DIMENSIONS))]
    tables += [_systems(context, parts, number) for number in SYSTEMS]
    tables += [Table(title, compare(context, rows, cases, DIMENSIONS)) for title, cases in ENSEMBLES.items()]
    tables = [table for table in (*tables, every) if table.lines]
    return Result(tuple(tables), (_figure(every),), _says(every))


def _tested(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that the recipe of the weights does not train on in the paper's split."""
    keys = [f"{row.example.doc_id}\n{row.example.id}" for row in rows]
    return [rows[at] for at in draw_apart(keys, PAPER_SHARE, seed=1)[1]]


def _systems(context: BenchmarkContext, parts: Mapping[str, Sequence[Row]], number: int) -> Table:
    """Compute one of SPEED's tables 1, 2, 4 and 5: the same metrics on different rows."""
    variant, title = SYSTEMS[number]
    lines = compare(context, parts[variant], cases_of_table(number), DIMENSIONS)
    return Table(f"{title} (SPEED, table {number})", lines)


def _every(context: BenchmarkContext, rows: Sequence[Row]) -> Table:
    """Run all metrics, or the requested ones."""
    names = dict.fromkeys([*context.every, *EVERY] if not context.only else context.only)
    cases = [Case(name, name, note=SEEN.get(name.partition(":")[0], "")) for name in names]
    return Table("Every metric", compare(context, rows, cases, DIMENSIONS))


def _absent(reason: str) -> list[Table]:
    known = {f"{name} (MaskEval, table 1)": cases for name, cases in REFERENCES.items()}
    known |= {"No reference (MaskEval, table 1)": SOURCE, SUBSET: TESTED}
    known |= {f"{title} (SPEED, table {at})": cases_of_table(at) for at, (_, title) in SYSTEMS.items()}
    known |= ENSEMBLES
    return [Table(title, absent(cases, DIMENSIONS, f"not there: {reason}")) for title, cases in known.items()]


def _figure(every: Table) -> Figure:
    series = []
    for name in DIMENSIONS:
        lines = [line for line in _fresh(every) if line.dimension == name]
        series.append(Series(name, tuple(line.label for line in lines), tuple(line.ours for line in lines)))
    return Figure("every", "SummEval, every metric", "", "pooled Pearson", tuple(series), connected=False)


def _fresh(every: Table) -> list[Line]:
    """Return the lines with a result, without metrics trained on these rows."""
    known = [line for line in every.lines if line.ours is not None]
    return [line for line in known if line.label.partition(":")[0] not in SEEN]


def _size(line: Line) -> float:
    """Return |r|: the sign of a metric such as `novelty` is known and is no merit."""
    return abs(line.ours or 0.0)


def _says(every: Table) -> tuple[str, ...]:
    """Name the best metric for each dimension by |r|, and the metrics inside its interval."""
    said = []
    for name in DIMENSIONS:
        lines = [line for line in _fresh(every) if line.dimension == name]
        if len(lines) < 2:
            continue
        best = max(lines, key=_size)
        low = _size(best) if best.low is None or best.high is None else min(abs(best.low), abs(best.high))
        near = [line.label for line in lines if line is not best and _size(line) >= low]
        rest = f"; within its interval: {', '.join(f'`{label}`' for label in near)}" if near else ""
        said.append(f"{name.capitalize()}: `{best.label}` {best.ours:.2f}{rest}.")
    return tuple(said)


SUITE = Suite("summeval", "Summaries of news, four qualities", (Data("summeval"),), run)
