"""Learned weight by part of speech: MaskEval's figure 4."""

from collections.abc import Sequence

from gistmeter.bench.suites.analyses.maskeval import Tagged, mean_weight_by_tag, part_of_speech
from gistmeter.bench.suites.context import BenchmarkContext, NotRunError
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Case, Data, Figure, Line, Result, Series, Table
from gistmeter.core.row import Row

DIMENSIONS = ("uniform", "consistency", "coherence", "fluency", "relevance")
LEAST = 0.01
"""Parts of speech below this share under all weightings are omitted from the figure."""
FUNCTION, CONTENT = ("ADP", "AUX", "DET"), ("NOUN", "VERB", "ADJ")
NOTES = (
    "Share of the source's total weight, averaged over pairs. Read off the paper's bar chart: uniform "
    "weights give nouns .15 to .20; consistency and fluency give more weight to adpositions, auxiliaries, "
    "determiners and less to nouns, verbs, adjectives; coherence and relevance do the opposite.",
    "Auxiliaries are modal verbs, all forms of *be*, and *have* and *do* where the parser says so.",
)


def run(context: BenchmarkContext) -> Result:
    """Compute the share of weight by part of speech for each quality."""
    title = "Weight of parts of speech (MaskEval, figure 4)"
    cases = {name: _case(name) for name in DIMENSIONS}
    wanted = context.wanted(cases.values())
    try:
        rows = context.take("summeval")
    except NotRunError as reason:
        note = f"not there: {reason}"
        lines = [Line(name, "all", metric=str(case.metric), note=note) for name, case in cases.items()]
        return Result((Table(title, tuple(lines)),))
    context.prepare(wanted, rows)
    tagged = _tags([row.example.source or "" for row in rows]) if wanted else []
    lines, shares = [], {}
    for case in wanted:
        try:
            metric = context.metric(case, spans=True)
        except NotRunError as reason:
            lines.append(Line(case.label, "all", metric=str(case.metric), note=f"not run: {reason}"))
            continue
        shares[case.label] = mean_weight_by_tag(metric.score([row.example for row in rows]), tagged)
        lines += _lines(case, shares[case.label], metric.signature.text, rows)
    return Result((Table(title, tuple(lines), NOTES),), (_figure(shares),), tuple(_says(dict(shares))))


def _case(name: str) -> Case:
    return Case(name, "maskeval" if name == "uniform" else f"maskeval:dimension={name}")


def _tags(texts: Sequence[str]) -> list[list[Tagged]]:
    """Tag the texts with the included pipeline; each distinct text is tagged once."""
    from gistmeter.text.factors import load_pipeline

    known: dict[str, list[Tagged]] = {}
    with load_pipeline("en").session() as nlp:
        for doc in nlp.pipe(dict.fromkeys(texts), disable=["ner"]):
            known[doc.text] = [
                (token.idx, token.idx + len(token), part_of_speech(token))
                for token in doc
                if not token.is_space
            ]
    return [known[text] for text in texts]


def _lines(case: Case, shares: dict[str, float], signature: str, rows: Sequence[Row]) -> list[Line]:
    return [
        Line(case.label, tag, share, metric=str(case.metric), level="pairs", n=len(rows), signature=signature)
        for tag, share in sorted(shares.items(), key=lambda item: -item[1])
    ]


def _figure(shares: dict[str, dict[str, float]]) -> Figure:
    tags = sorted({tag for own in shares.values() for tag in own})
    shown = tuple(tag for tag in tags if max(own.get(tag, 0.0) for own in shares.values()) >= LEAST)
    series = (Series(name, shown, tuple(own.get(tag, 0.0) for tag in shown)) for name, own in shares.items())
    title = "Weight of parts of speech in sources"
    return Figure("weights", title, "", "share of weight", tuple(series), connected=False)


def _says(shares: dict[str, dict[str, float]]) -> list[str]:
    """Summarize the difference of each quality's weights from uniform weights."""
    if "uniform" not in shares:
        return []
    base = shares.pop("uniform")
    said = []
    for name, own in shares.items():
        function, content = (
            sum(own.get(tag, 0.0) - base.get(tag, 0.0) for tag in tags) for tags in (FUNCTION, CONTENT)
        )
        said.append(
            f"{name.capitalize()}: adpositions, auxiliaries and determiners {function:+.3f}, nouns, verbs "
            f"and adjectives {content:+.3f} relative to uniform weights."
        )
    return said


SUITE = Suite("pos", "Which parts of speech weigh most", (Data("summeval"),), run)
