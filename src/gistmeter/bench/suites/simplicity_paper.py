"""The simplicity paper's tables 2 to 4 and figures 2 and 3, with a fine-tuned encoder."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gistmeter.bench.suites.analyses.simplicity import PARTS, TABLE_4, Variant, scatter
from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, compare
from gistmeter.bench.suites.tables import Case, Figure, Line, Series, figures
from gistmeter.core.errors import ModelError
from gistmeter.core.row import Row

ORDER = "meaning fluency simplicity"
DIMENSIONS = ORDER.split()
TUNED = "gistmeter/simple"
"""Fine-tuned encoder that ships with gistmeter."""
UNTUNED = "this encoder is not fine-tuned (section 3.3)"
BEST = "best of precision, recall and F1, selected on these rows as in the paper"
TABLE2 = {
    "BLEU": figures(ORDER, 0.46, 0.24, 0.17),
    "SARI": figures(ORDER, 0.23, 0.15, 0.22),
    "BERTScore": figures(ORDER, 0.60, 0.38, 0.30),
    "proposed": figures(ORDER, 0.55, 0.53, 0.42),
}
TABLE3 = {
    "BLEU": figures(ORDER, 0.59, 0.42, 0.36),
    "SARI": figures(ORDER, 0.12, 0.11, 0.25),
    "BERTScore": figures(ORDER, 0.62, 0.44, 0.35),
    "proposed": figures(ORDER, 0.59, 0.53, 0.44),
}
TABLE4 = {
    "proposed": figures(ORDER, 0.59, 0.53, 0.44),
    "without weighting": figures(ORDER, 0.73, 0.53, 0.38),
    "without input": figures(ORDER, 0.71, 0.53, 0.53),
    "without fine-tuning": figures(ORDER, 0.55, 0.50, 0.39),
}
PANELS = {
    "meaning": ("BLEU", "BERTScore", "without weighting"),
    "simplicity": ("SARI", "BERTScore", "without input"),
}
"""Metrics in the panels of figures 2 and 3."""


@dataclass(frozen=True, slots=True)
class Encoders:
    """The fine-tuned encoder, and the same encoder before fine-tuning.

    Args:
        tuned: Name of the fine-tuned encoder; None for the command line's model, which is not fine-tuned.
        base: Name of the encoder that it was trained from; None as above.
        layer: Layer of both; None for the default of the command line's model.
    """

    tuned: str | None = None
    base: str | None = None
    layer: int | None = None


def encoders(model: str | None) -> Encoders:
    """Return the encoders of the tables.

    Args:
        model: Model on the command line: a result of `recipes/simplicity-paper.toml`, or another encoder.
            None for the fine-tuned encoder that ships.
    """
    from gistmeter.models.encode.tuned import base_of

    try:
        found = base_of(model or TUNED)
    except ModelError:
        found = None  # the lines of the tables give the reason
    return Encoders() if found is None else Encoders(model or TUNED, *found)


def cases(paper: Mapping[str, Mapping[str, float]], known: Encoders) -> list[Case]:
    """Return the cases of a table: the baselines, and the variants of the paper's metric."""
    return [_case(label, columns, known) for label, columns in paper.items()]


def paper_lines(context: BenchmarkContext, rows: Sequence[Row], wanted: Sequence[Case]) -> tuple[Line, ...]:
    """Return one line per case and dimension, by the component with the highest correlation."""
    return tuple(line for case in wanted for line in _best_lines(context, rows, case))


def scatters(context: BenchmarkContext, rows: Sequence[Row], known: Encoders) -> Iterator[Figure]:
    """Yield figures 2 and 3: each metric, rescaled to 0 to 100, against the human ratings."""
    for number, (dimension, labels) in enumerate(PANELS.items(), 2):
        wanted = context.wanted(cases(TABLE3 | TABLE4, known))
        series = [_series(context, rows, case, dimension) for case in wanted if case.label in labels]
        yield Figure(
            f"figure-{number}-{dimension}",
            f"Metrics and human ratings of {dimension} (figure {number})",
            f"human rating of {dimension}",
            "score, rescaled to 0 to 100",
            tuple(one for one in series if one is not None),
            connected=False,
        )


def _case(label: str, paper: Mapping[str, float], known: Encoders) -> Case:
    if label in ("BLEU", "SARI", "BERTScore"):
        return Case(label, label.lower(), paper=paper, note=BEST if label == "BERTScore" else "")
    variant = TABLE_4[label]
    options: dict[str, object] = {"value": variant.parts[-1], **variant.options, "layer": known.layer}
    if known.layer is None:
        del options["layer"]
    spec = ",".join(f"{name}={value}" for name, value in options.items())
    model = known.tuned if variant.preset == "tuned" else known.base
    note = BEST if known.tuned else f"{BEST}; {UNTUNED}"
    return Case(label, f"simplicity:{spec}", paper=paper, model=model, note=note)


def _parts(case: Case) -> tuple[str, ...]:
    variant: Variant | None = TABLE_4.get(case.label)
    if variant is not None:
        return variant.parts
    return PARTS if case.label == "BERTScore" else ("value",)


def _best_lines(context: BenchmarkContext, rows: Sequence[Row], case: Case) -> Iterator[Line]:
    each = [compare(context, rows, [replace(case, part=part)], DIMENSIONS) for part in _parts(case)]
    for lines in zip(*each, strict=True):
        yield max(lines, key=_height)


def _height(line: Line) -> float:
    return -math.inf if line.ours is None else line.ours


def _series(context: BenchmarkContext, rows: Sequence[Row], case: Case, dimension: str) -> Series | None:
    """Return the points of one panel, by the component that the table shows."""
    human = [row.scores.get(dimension, math.nan) for row in rows]
    try:
        scores = context.metric(case).score([row.example for row in rows])
    except NotRunError:
        return None
    kept = [at for at, rating in enumerate(human) if math.isfinite(rating)]
    own = [replace(scores[at], parts={**scores[at].parts, "value": scores[at].value}) for at in kept]
    plots = [scatter(own, [human[at] for at in kept], part) for part in _parts(case)]
    best = max(plots, key=lambda plot: -math.inf if math.isnan(plot.pearson) else plot.pearson)
    if not best.human:
        return None
    return Series(f"{case.label} (r = {best.pearson:.2f})", best.human, best.metric)
