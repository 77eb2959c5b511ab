"""Simplification: the simplicity paper's tables 2 to 4, Simplicity-DA, and MaskEval's table 2 (MUSS)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, absent, compare
from gistmeter.bench.suites.simplicity_paper import (
    DIMENSIONS,
    ORDER,
    TABLE2,
    TABLE3,
    TABLE4,
    Encoders,
    cases,
    encoders,
    paper_lines,
    scatters,
)
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Data, Figure, Line, Result, Series, Table, figures
from gistmeter.core.row import Row

DA = (
    Case("BERTScore precision", "bertscore", "precision", figures(ORDER, 0.701, 0.654, 0.617)),
    Case("BERTScore F1", "bertscore", "f1", figures(ORDER, 0.762, 0.632, 0.573)),
    Case("BLEU", "bleu", paper=figures(ORDER, 0.610, 0.487, 0.496)),
    Case("SARI", "sari", paper=figures(ORDER, 0.510, 0.333, 0.359)),
    Case("simplicity, precision", "simplicity", "precision"),
    Case("simplicity, F1", "simplicity", "f1"),
    Case("lexical simplicity", "simplicity", "simplicity"),
    Case("relative to the input", "simplicity:value=rel_f1"),
    Case("quality, meaning", "quality:text=simplification", "meaning"),
    Case("quality, fluency", "quality:text=simplification", "fluency"),
    Case("quality, simplicity", "quality:text=simplification", "simplicity"),
)
MUSS_ORDER = "adequacy fluency"
MUSS = (
    Case("ROUGE-1", "rouge", "rouge1_f1", figures(MUSS_ORDER, 0.416, 0.261)),
    Case("ROUGE-L", "rouge", "rougeL_f1", figures(MUSS_ORDER, 0.409, 0.254)),
    Case("SacreBLEU", "bleu", paper=figures(MUSS_ORDER, 0.327, 0.224)),
    Case("BERTScore", "bertscore", paper=figures(MUSS_ORDER, 0.375, 0.214)),
    Case("BLEURT", None, paper=figures(MUSS_ORDER, 0.377, 0.318)),
    Case("PRISM", None, paper=figures(MUSS_ORDER, 0.586, 0.269)),
    Case("MaskEval, uniform", "maskeval", paper=figures(MUSS_ORDER, 0.565, 0.303)),
    Case("MaskEval, fluency", "maskeval:dimension=fluency", paper=figures(MUSS_ORDER, 0.439, 0.261)),
    Case("MaskEval, consistency", "maskeval:dimension=consistency", paper=figures(MUSS_ORDER, 0.494, 0.268)),
    Case("MaskEval, coherence", "maskeval:dimension=coherence", paper=figures(MUSS_ORDER, 0.373, 0.307)),
    Case("MaskEval, relevance", "maskeval:dimension=relevance", paper=figures(MUSS_ORDER, 0.610, 0.372)),
)
LANGUAGES = ("en", "fr", "es")
RAW = "Judgements are means of raw ratings; the paper standardizes each rater's ratings first."
TURK, DA_Z = "asset, TurkCorpus references", "simplicity_da, standardised"


Compared = Callable[[BenchmarkContext, Sequence[Row], Sequence[Case]], tuple[Line, ...]]
"""Returns the lines of a table: `paper_lines`, or `_plain`."""


def run(context: BenchmarkContext) -> Result:
    """Compute all tables."""
    known = encoders(context.models[0] if context.models else None)
    title = "references (simplicity paper, table"
    measured = {
        "turk": _table(context, f"TurkCorpus {title} 2)", (TURK,), cases(TABLE2, known), paper_lines),
        "asset": _table(context, f"ASSET {title} 3)", ("asset",), cases(TABLE3, known), paper_lines),
        "ablations": _table(
            context, f"Ablations, ASSET {title} 4)", ("asset",), cases(TABLE4, known), paper_lines
        ),
        "da": _table(
            context, "Simplicity-DA (Alva-Manchego et al., 2021)", (DA_Z, "simplicity_da"), DA, _plain
        ),
    }
    tables = list(measured.values())
    tables.append(_muss(context, "MUSS, all three languages (MaskEval, table 2)", LANGUAGES, MUSS))
    alone = [replace(case, paper={}) for case in MUSS if case.metric]
    tables += [_muss(context, f"MUSS, {language}", (language,), alone) for language in LANGUAGES]
    tables = [table for table in tables if table.lines]
    pictures = [_figure(name, table) for name, table in measured.items() if table.lines]
    pictures += _scatters(context, known)
    return Result(tuple(tables), tuple(pictures), tuple(_says(tables)))


def _table(
    context: BenchmarkContext, title: str, keys: Sequence[str], wanted: Sequence[Case], compared: Compared
) -> Table:
    """Compute a table on the first available data, with standardized judgements if there are any."""
    there = [key for key in keys if key in context.rows]
    try:
        rows = context.take((there or keys)[0])
    except NotRunError as reason:
        return Table(title, absent(wanted, DIMENSIONS, f"not there: {reason}"))
    standard = _standardised(rows)
    raw = standard is None and there[0] != DA_Z
    return Table(title, compared(context, standard or rows, wanted), (RAW,) if raw else ())


def _plain(context: BenchmarkContext, rows: Sequence[Row], wanted: Sequence[Case]) -> tuple[Line, ...]:
    return compare(context, rows, wanted, DIMENSIONS)


def _scatters(context: BenchmarkContext, known: Encoders) -> list[Figure]:
    """Draw figures 2 and 3 on the ASSET ratings, if they are there and a metric of the figure was run."""
    rows = context.rows.get("asset", ())
    drawn = scatters(context, _standardised(rows) or rows, known) if rows else ()
    return [figure for figure in drawn if figure.series]


def _standardised(rows: Sequence[Row]) -> list[Row] | None:
    """Return rows with the standardized judgements (`meaning_z` and so on), or None if there are none."""
    if not any(f"{name}_z" in row.scores for row in rows for name in DIMENSIONS):
        return None
    return [Row(row.example, _z(row.scores)) for row in rows]


def _z(scores: Mapping[str, float]) -> dict[str, float]:
    return {name: scores[f"{name}_z"] for name in DIMENSIONS if f"{name}_z" in scores}


def _muss(context: BenchmarkContext, title: str, languages: Sequence[str], cases: Sequence[Case]) -> Table:
    """Compute a table on the rows of several languages together, as the paper does, or of one."""
    cases = [_spoken(case, languages) for case in cases]
    try:
        rows = [row for language in languages for row in _of_language(context, language)]
    except NotRunError as reason:
        return Table(title, absent(cases, MUSS_ORDER.split(), f"not there: {reason}"))
    return Table(title, compare(context, rows, cases, MUSS_ORDER.split()))


def _spoken(case: Case, languages: Sequence[str]) -> Case:
    """Return a case whose ROUGE has no English stemmer, if a language is another one."""
    if case.metric == "rouge" and tuple(languages) != ("en",):
        return replace(case, metric="rouge:stemmer=false,tokenizer=words")
    return case


def _of_language(context: BenchmarkContext, language: str) -> list[Row]:
    """Return the rows of a language, with its code, and names of documents that no other language has."""
    rows = context.take(f"muss_{language}")
    return [
        Row(replace(row.example, language=language, doc_id=f"{language} {row.example.doc_id}"), row.scores)
        for row in rows
    ]


def _figure(name: str, table: Table) -> Figure:
    """Plot the correlations with simplicity."""
    lines = [line for line in table.lines if line.dimension == "simplicity" and line.ours is not None]
    names = tuple(line.label for line in lines)
    series = (
        Series("ours", names, tuple(line.ours for line in lines)),
        Series("paper", names, tuple(line.paper for line in lines)),
    )
    title = f"Correlation with simplicity: {table.title.partition(' (')[0]}"
    return Figure(name, title, "", "pooled Pearson", series, connected=False)


def _says(tables: Sequence[Table]) -> list[str]:
    """Name the best metric for simplicity in each table."""
    said = []
    for table in tables:
        lines = [line for line in table.lines if line.dimension == "simplicity" and line.ours is not None]
        if len(lines) > 1:
            best = max(lines, key=lambda line: line.ours or 0.0)
            where = f"[{best.low:.2f}, {best.high:.2f}]" if best.low is not None else ""
            said.append(f"{table.title}: best for simplicity is `{best.metric}`, {best.ours:.2f} {where}.")
    return said


SUITE = Suite(
    "simplification",
    "Simplifications, three qualities",
    (
        Data("asset"),
        Data("asset", {"references": "references_turk"}, TURK),
        Data("simplicity_da"),
        Data("simplicity_da", {"scores": "scores_z"}, DA_Z),
        *(Data(f"muss_{language}") for language in LANGUAGES),
    ),
    run,
)
