"""Test the suites on small data."""

import importlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from scipy.stats import pearsonr

from gistmeter.bench.suites.context import BenchmarkContext, NotRunError, compare
from gistmeter.bench.suites.factual import BART, _ablations
from gistmeter.bench.suites.languages import COMMON, MEAN
from gistmeter.bench.suites.linguistic import QUALITIES
from gistmeter.bench.suites.pos import _tags
from gistmeter.bench.suites.registry import SUITES
from gistmeter.bench.suites.render import document, markdown, to_json
from gistmeter.bench.suites.simplification import _of_language
from gistmeter.bench.suites.speed_cases import ENSEMBLES, cases_of_table
from gistmeter.bench.suites.tables import Case, Line, Result, Table
from gistmeter.catalog import parse_spec
from gistmeter.core.errors import ModelNotFound
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ANY, Languages
from gistmeter.core.metric import Metric
from gistmeter.core.options import options_from
from gistmeter.core.row import Row
from gistmeter.core.score import Score, Span
from gistmeter.core.signature import Signature
from gistmeter.io.cache import ScoreCache
from gistmeter.metrics.cloze.presets import BuildOptions
from gistmeter.text.factors import Pipeline
from tests.tiny_spacy import tiny_pipeline

HUMAN = [
    *("consistency", "coherence", "fluency", "relevance", "Factuality", "faithful_char_share"),
    *("meaning", "simplicity", "adequacy", "grammar", "redundancy", "coverage", "focus", *QUALITIES),
]
SYSTEMS = ("M0", "M1", "M8", "M9", "M10")


def rows_of(key: str) -> list[Row]:
    """Return four documents by five systems, with every dimension that a suite asks for."""
    rows = []
    for number in range(4):
        source = f"Anna Berg sold the red boat in Oslo. She thanked her brother {number} times."
        for at, system in enumerate(SYSTEMS):
            again = " again" * at + f". It is {number}."
            candidate = "The mayor of Oslo opened two new schools on Monday" + again
            scores = {name: (at * 7 + number * 3 + len(name)) % 11 / 10 for name in HUMAN}
            name = ("cnndm", "xsum")[at % 2] if key.startswith("gofigure") else system
            example = Example(f"{number}-{at}", candidate, source, (source, "A boat."), name, f"d{number}")
            rows.append(Row(example, scores))
    return rows


@dataclass(frozen=True)
class Made:
    """A metric that says something of any text, with the parts and spans that suites read."""

    spec: str
    needs: tuple[Need, ...] = ()
    languages: Languages = ANY

    @property
    def name(self) -> str:
        return self.spec.partition(":")[0]

    @property
    def signature(self) -> Signature:
        return Signature.of(self.name, version=1, spec=self.spec)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        return [self._one(example) for example in examples]

    def _one(self, example: Example) -> Score:
        value = (
            (len(example.candidate) * 31 + len(self.spec) * 7 + sum(map(ord, example.candidate))) % 97 / 97
        )
        parts = {name: (value + at) / 20 for at, name in enumerate((*PARTS, *QUALITIES.values()))}
        spans = []
        for side, text in (("candidate", example.candidate), ("source", example.source or "")):
            for at, word in enumerate(text.split()):
                start = text.index(word)
                spans.append(Span(side, start, start + len(word), (at + len(text)) % 2, 1.0 + at % 3))  # type: ignore[arg-type]
        return Score(example.id, value, parts, tuple(spans))


PARTS = ("precision", "recall", "f1", "rouge1_f1", "rouge2_f1", "rougeL_f1", "simplicity")
FACTS = {
    "command": "gistmeter reproduce tiny --data FOLDER",
    "preset": "mini",
    "limit": None,
    "data": {"set": {"rows": 3, "reason": ""}, "other": {"rows": 0, "reason": "no file"}},
}


def build(spec: str, model: str | None) -> Metric:
    if model:
        raise ModelNotFound(f"{model} is neither on disk nor could it be fetched")
    return Made(spec)


def bench(tmp_path: Path, keys: Sequence[str], only: Sequence[str] = ()) -> BenchmarkContext:
    every = ("speed", "chrf", "maskeval")
    rows = {key: rows_of(key) for key in keys}
    return BenchmarkContext(rows, {}, build, ScoreCache(tmp_path), only=only, every=every)


@pytest.fixture
def tiny_english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let suites parse with the tiny pipeline."""
    pipeline = Pipeline(tiny_pipeline(), "tiny")
    monkeypatch.setattr("gistmeter.text.factors.load_pipeline", lambda name: pipeline)


def cells(result: Result) -> list[Line]:
    return [line for table in result.tables for line in table.lines]


@pytest.mark.usefixtures("tiny_english")
@pytest.mark.parametrize("name", SUITES)
def test_a_suite_fills_every_line_or_says_why_not(name: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    result = suite.run(bench(tmp_path, [data.key for data in suite.data]))
    lines = cells(result)
    assert lines and result.says
    assert all(line.ours is not None or line.note or line.dimension.endswith(" p") for line in lines)
    assert all(line.signature and line.n for line in lines if line.ours is not None)
    reasons = [line.note for line in lines if line.ours is None and line.note != "from the paper"]
    assert all("not run: " in reason or "undefined" in reason for reason in reasons if reason)
    assert len([line for line in lines if line.ours is not None]) >= len(lines) / 10
    assert result.figures and all(figure.series for figure in result.figures)
    made = document(suite, result, FACTS, {f"{name}-{figure.name}" for figure in result.figures})
    text = markdown(json.loads(to_json(made)))
    for table in result.tables:
        assert f"## {table.title}" in text
    assert text.count("![") == len(result.figures)


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_without_its_data_says_so_on_every_line(name: str, tmp_path: Path) -> None:
    lines = cells(SUITES[name].run(bench(tmp_path, [])))
    told = [line for line in lines if not line.note.startswith("from the paper")]
    assert told and all("no file of" in line.note and line.ours is None for line in told)


@pytest.mark.usefixtures("tiny_english")
@pytest.mark.parametrize("name", SUITES)
def test_only_what_is_asked_for_is_run(name: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    only = ["chrf", "cloze:level=summary,passage=0,copied=false,k=2", "maskeval", "sumqe", "simplicity"]
    lines = cells(suite.run(bench(tmp_path, [data.key for data in suite.data], only)))
    assert lines and {line.metric.partition(":")[0].partition(" ")[0] for line in lines} <= {
        spec.partition(":")[0] for spec in only
    }


POOLED = "MUSS, all three languages (MaskEval, table 2)"


def test_muss_is_pooled_over_languages_and_shown_for_each(tmp_path: Path) -> None:
    made = bench(tmp_path, ["muss_en", "muss_fr", "muss_es"], ["chrf", "maskeval"])
    tables = {table.title: table.lines for table in SUITES["simplification"].run(made).tables}
    whole = tables[POOLED]
    paper = {(line.label, line.dimension): line.paper for line in whole}
    assert paper["MaskEval, consistency", "fluency"] == 0.268
    assert {line.n for line in whole} == {60}
    for language in ("en", "fr", "es"):
        lines = tables[f"MUSS, {language}"]
        assert {line.n for line in lines} == {20} and not any(line.paper for line in lines)
    spoken = [row.example.language for row in _of_language(made, "fr")]
    assert spoken == ["fr"] * 20, "a metric for English has no value for them"
    partly = bench(tmp_path, ["muss_en"], ["maskeval"])
    told = {table.title: table.lines for table in SUITES["simplification"].run(partly).tables}
    assert all("no file of muss_fr" in line.note for line in told[POOLED])
    assert all(line.ours is not None for line in told["MUSS, en"])


def test_forms_of_be_have_and_do_are_auxiliaries_where_they_help() -> None:
    text = (
        "The boat is red and was sold. She has been told that he has a boat. Did he see it? He must be there."
    )
    [tagged] = _tags([text])
    found = [text[start:end] for start, end, part in tagged if part == "AUX"]
    assert found == ["is", "was", "has", "been", "Did", "must", "be"]
    verbs = [text[start:end] for start, end, part in tagged if part == "VERB"]
    assert verbs == ["sold", "told", "has", "see"]


@dataclass(frozen=True)
class Counted(Made):
    """A metric that may be asked only once for a text."""

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        raise AssertionError("scored again")


@pytest.mark.usefixtures("tiny_english")
def test_a_second_run_scores_nothing(tmp_path: Path) -> None:
    for name in ("selective", "k"):
        suite = SUITES[name]
        first = bench(tmp_path, [data.key for data in suite.data])
        again = replace(first, build=lambda *asked: Counted(build(*asked).spec))  # type: ignore[attr-defined]
        assert suite.run(first) == suite.run(again), name


def test_languages_are_averaged_over_those_that_all_metrics_score(tmp_path: Path) -> None:
    suite = SUITES["languages"]
    keys = [data.key for data in suite.data]
    first, second = suite.run(bench(tmp_path, keys[:3])).tables[:2]
    assert (first.title, second.title) == (COMMON, MEAN)
    assert {line.n for line in first.lines if line.ours is not None} == {3}
    assert suite.run(bench(tmp_path, keys)).tables[0].title == MEAN, "no language is left out"


def said_by(name: str, lines: Sequence[Line]) -> list[str]:
    module = importlib.import_module(f"gistmeter.bench.suites.{name}")
    table = Table("FRANK-XSum (ClozE, table 2)", tuple(lines))
    return list(module._says(table if name == "summeval" else [table]))


@pytest.mark.parametrize("name", ["factual", "summeval"])
def test_baselines_are_compared_by_the_size_of_their_correlation(name: str) -> None:
    figures = {"cloze": 0.43, "extractive": 0.40, "novelty": -0.47, "length_ratio": -0.1}
    labels = {"cloze": "ClozE-R +confidence"} if name == "factual" else {}
    lines = [
        Line(labels.get(spec, spec), "consistency", r, metric=spec, n=9, low=r - 0.05, high=r + 0.05)
        for spec, r in figures.items()
    ]
    [said] = said_by(name, lines)
    assert "`novelty` -0.47" in said
    assert name == "factual" or said.endswith("within its interval: `cloze`.")


def test_table_6_has_all_rows_of_both_models() -> None:
    cases = _ablations(0, "faithful_char_share")
    rows = [case for case in cases if case.paper]
    assert len(rows) == 16 and len({case.label for case in rows}) == 16
    bart = [case for case in rows if case.model == BART]
    assert [round(100 * value, 2) for case in bart for value in case.paper.values()] == [
        20.05, 19.63, 20.47, 20.46, 20.08, 19.64, 20.44, 20.44,
    ]  # fmt: skip
    for case in cases:
        _, options = parse_spec(str(case.metric))
        assert (options["criterion"], options["aggregate"], options["window"]) == ("f1", "average", "512")
        options_from(BuildOptions, options)


def test_speeds_tables_have_every_row_of_the_paper() -> None:
    labels = {
        number: {case.label for case in cases_of_table(number) if case.paper} for number in (1, 2, 4, 5)
    }
    rows = {"BERTScore-p", "BERTScore-r", "BERTScore-f", "BLEU", "METEOR", "MoverScore", "SMS", "SPEED"}
    rows |= {f"{name}-{n}" for name in ("ROUGE", "ROUGE-we") for n in (1, 2, 3)} | {"S3-pyr", "S3-resp"}
    assert all(found == rows for found in labels.values())
    ours = {case.label: case.metric for case in cases_of_table(1)}
    assert ours["ROUGE-3"] == "rouge" and ours["SMS"] == "sms" and ours["MoverScore"] == "moverscore"
    assert ours["METEOR"] == "meteor:synonyms=wordnet" and ours["S3-pyr"] is None
    words = ENSEMBLES["Word-level models (SPEED, table 3)"]
    assert [case.label for case in words][-1] == "bert-base-NER-uncased" and len(words) == 6


def test_time_against_agreement_has_one_point_a_metric(tmp_path: Path) -> None:
    def made(spec: str, model: str | None) -> Metric:
        if model and "/" in model:
            raise ModelNotFound("not here; fetch it")
        return Made(spec)

    context = replace(bench(tmp_path, ["summeval"]), build=made)
    result = SUITES["runtime"].run(context)
    lines = {(line.label, line.dimension): line for line in cells(result)}
    seconds, agreement = (lines["SPEED, preset mini", name] for name in ("seconds", "average Pearson"))
    rows = rows_of("summeval")
    values = [score.value for score in Made("speed").score([row.example for row in rows])]
    names = ("coherence", "consistency", "fluency", "relevance")
    expected = [pearsonr(values, [row.scores[name] for row in rows]).statistic for name in names]
    assert agreement.ours == pytest.approx(sum(expected) / 4)
    assert seconds.ours is not None and seconds.ours > 0 and seconds.n == len(rows)
    assert lines["BERTScore-f, preset paper", "average Pearson"].paper == 0.19
    assert lines["SPEED, preset best4", "seconds"].note == "not run: not here"
    point = next(series for series in result.figures[0].series if series.label == "SPEED, preset mini")
    assert (point.x, point.y) == ((seconds.ours,), (agreement.ours,))


def test_figure_3b_has_a_point_for_each_model(tmp_path: Path) -> None:
    def made(spec: str, model: str | None) -> Metric:
        return Made(f"{spec}{model}")

    keys = [data.key for data in SUITES["accuracy"].data]
    context = replace(bench(tmp_path, keys), build=made, models=["early", "late"])
    result = SUITES["accuracy"].run(context)
    accuracy = {line.label: line.ours for line in cells(result) if line.dimension == "cloze accuracy"}
    gold = [row.example for row in rows_of("gofigure_auto") if row.example.system == "cnndm"]
    spec = "cloze:criterion=f1,aggregate=average,window=512,passage=0,copied=false"
    for model in ("early", "late"):
        values = [score.value for score in Made(f"{spec}{model}").score(gold)]
        assert accuracy[model] == pytest.approx(sum(values) / len(values))
    [figure] = result.figures
    assert len(figure.series) == 6
    assert all(series.x == tuple(sorted(accuracy.values())) for series in figure.series)  # type: ignore[type-var]
    assert any("from accuracy" in said for said in result.says)


def test_compare_is_scipys_correlation_beside_the_papers_figure(tmp_path: Path) -> None:
    rows = rows_of("summeval")
    cases = (Case("paper's name", "chrf", "precision", {"fluency": 0.25}), Case("other", None))
    made = bench(tmp_path, [])
    first, missing = compare(made, rows, cases, ["fluency"])
    scores = Made("chrf").score([row.example for row in rows])
    expected = pearsonr(
        [score.parts["precision"] for score in scores], [row.scores["fluency"] for row in rows]
    )
    assert first.ours == pytest.approx(expected.statistic, abs=1e-12)
    assert first.difference == pytest.approx(expected.statistic - 0.25)
    assert (first.n, first.level, first.metric) == (20, "pooled", "chrf (precision)")
    assert first.low is not None and first.high is not None and first.low <= first.high
    assert missing.ours is None and missing.note == "not run: not implemented in gistmeter"
    assert compare(made, rows, cases[:1], ["fluency"], "system")[0].n == len(SYSTEMS)


def test_a_metric_without_any_value_says_why(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Dumb(Made):
        def score(self, examples: Sequence[Example], /) -> list[Score]:
            return [Score.undefined(example.id, "the row has no references") for example in examples]

    made = replace(bench(tmp_path, []), build=lambda spec, model: Dumb(spec))
    line = compare(made, rows_of("summeval"), [Case("dumb", "dumb")], ["fluency", "taste"])[0]
    assert line.note == "not run: no row has a value: the row has no references"
    with pytest.raises(NotRunError, match="no part 'taste'"):
        bench(tmp_path, []).values(Case("x", "chrf", "taste"), rows_of("summeval"))
