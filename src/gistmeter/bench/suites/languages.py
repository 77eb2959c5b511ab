"""Summaries in eight languages: Multi_SummEval (Koto et al., 2021), focus and coverage of the reference."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from gistmeter.bench.datasets.loaders.multi_summeval import DIMENSIONS, LANGUAGES
from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, absent, compare
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Data, Figure, Line, Result, Series, Table

WORDS = "rouge:stemmer=false,tokenizer=words"
CASES = (
    Case("ROUGE-1", WORDS, "rouge1_f1"),
    Case("ROUGE-2", WORDS, "rouge2_f1"),
    Case("ROUGE-L", WORDS, "rougeL_f1"),
    Case("BLEU", "bleu"),
    Case("BLEU of characters", "bleu:tokenizer=char"),
    Case("chrF", "chrf"),
    Case("length ratio", "length_ratio:against=references"),
    Case("BERTScore, precision", "bertscore", "precision"),
    Case("BERTScore, recall", "bertscore", "recall"),
    Case("BERTScore, F1", "bertscore", "f1"),
    Case("SPEED", "speed"),
    Case("SPEED, precision", "speed", "precision"),
    Case("SPEED, recall", "speed", "recall"),
    Case("SPEED, F1", "speed", "f1"),
)
DRAWN = ("ROUGE-1", "chrF", "BERTScore, F1", "SPEED, precision", "SPEED")
MEAN = "Mean over the languages with a value"
MODEL = "BERTScore and SPEED score English only with --preset mini; give --preset multilingual."


def run(context: BenchmarkContext) -> Result:
    """Compute one table per language, and the means over the languages."""
    tables = tuple(_table(context, language) for language in LANGUAGES)
    mean = Table(MEAN, tuple(_means(context.wanted(CASES), tables)))
    pictures = tuple(_figure(dimension, tables) for dimension in DIMENSIONS)
    return Result((mean, *tables), pictures, tuple(_says(mean)))


def _table(context: BenchmarkContext, language: str) -> Table:
    title = f"Multi_SummEval, {language}"
    try:
        rows = context.take(f"multi_summeval_{language}")
    except NotRunError as reason:
        return Table(title, absent(CASES, DIMENSIONS, f"not there: {reason}"))
    return Table(title, compare(context, rows, CASES, DIMENSIONS), (MODEL,))


def _means(cases: Sequence[Case], tables: Sequence[Table]) -> list[Line]:
    lines = []
    for case in cases:
        for dimension in DIMENSIONS:
            known = [line for table in tables for line in table.lines if _is_of(line, case.label, dimension)]
            found = [line for line in known if line.ours is not None]
            if found:
                mean = fmean(line.ours for line in found if line.ours is not None)
                note = ""
                if len(found) < len(tables):
                    note = f"{len(found)} of {len(tables)} languages"
                made = replace(
                    found[0], ours=mean, n=len(found), level="language", low=None, high=None, note=note
                )
            else:
                made = replace(known[0], level="language")
            lines.append(made)
    return lines


def _is_of(line: Line, label: str, dimension: str) -> bool:
    return line.label == label and line.dimension == dimension


def _figure(dimension: str, tables: Sequence[Table]) -> Figure:
    """Plot the correlations of each language."""
    series = []
    for label in DRAWN:
        found = [
            next((line.ours for line in table.lines if _is_of(line, label, dimension)), None)
            for table in tables
        ]
        series.append(Series(label, LANGUAGES, tuple(found)))
    return Figure(
        dimension,
        f"Correlation with {dimension}",
        "language",
        "pooled Pearson",
        tuple(series),
        connected=False,
    )


def _says(mean: Table) -> list[str]:
    """Name the best metric of each dimension."""
    said = []
    for dimension in DIMENSIONS:
        known = [line for line in mean.lines if line.dimension == dimension and line.ours is not None]
        if known:
            best = max(known, key=lambda line: line.ours or 0.0)
            said.append(
                f"Best for {dimension} over {best.n} languages: {best.label}, mean Pearson {best.ours:.3f}."
            )
    return said


SUITE = Suite(
    "languages",
    "Summaries in eight languages",
    tuple(Data(f"multi_summeval_{language}") for language in LANGUAGES),
    run,
)
