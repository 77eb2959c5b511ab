"""Test the Python interface: its public names, and the same numbers as the command line."""

import json
import logging
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gistmeter as gm
from gistmeter.app.cli import main
from gistmeter.core.errors import UsageError
from gistmeter.engine import progress
from gistmeter.metrics.baselines import Extractive, Rouge, RougeOptions
from gistmeter.metrics.speed import SpeedOptions

ROWS = [
    {
        "id": "a",
        "candidate": "Rain fell.",
        "source": "Rain fell all day.",
        "references": ["Rain fell today."],
    },
    {"id": "b", "candidate": "A dog ran.", "source": "A cat sat.", "references": ["A dog ran.", "It ran."]},
    {"id": "c", "candidate": "It snowed.", "source": "Snow fell.", "references": ["Snow fell."]},
]


def test_the_public_face_is_pinned() -> None:
    assert gm.__all__ == [
        "Example", "Flag", "Metric", "Report", "Runtime", "Score", "Signature", "Span",
        "as_evaluate", "benchmark", "compare", "errors", "load", "score", "write_html",
    ]  # fmt: skip
    assert all(hasattr(gm, name) for name in gm.__all__)


def test_the_import_is_light() -> None:
    heavy = [
        "numpy",
        "torch",
        "transformers",
        "spacy",
        "pandas",
        "polars",
        "pyarrow",
        "narwhals",
        "scipy",
        "datasets",
    ]
    code = f"import sys, gistmeter; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "gistmeter", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"gistmeter {gm.__version__}\n"


def test_options_may_be_given_in_every_form() -> None:
    wanted = Rouge(RougeOptions(value="rouge1_f1", stemmer=False))
    given = {"value": "rouge1_f1", "stemmer": False}
    loaded = [
        gm.load("rouge:value=rouge1_f1,stemmer=false"),
        gm.load("rouge", value="rouge1_f1", stemmer=False),
        gm.load("rouge:stemmer=true", **given),  # type: ignore[arg-type]  # any option's name
        gm.load("rouge", options=given),
        gm.load("rouge", options=RougeOptions(value="rouge1_f1", stemmer=False)),
    ]
    assert loaded == [wanted] * 5


def test_a_metric_with_a_model_takes_the_words_of_the_command_line(tiny_bert: Path) -> None:
    options = SpeedOptions(against="source", value="min")
    metric = gm.load("speed", model=str(tiny_bert), device="cpu", batch_tokens=64, options=options)
    runtime = gm.Runtime(device="cpu", batch_tokens=64)
    again = gm.load("speed:against=source,value=min", model=str(tiny_bert), runtime=runtime)
    assert metric.signature == again.signature
    example = gm.Example(**ROWS[0])  # type: ignore[arg-type]
    assert metric.score([example]) == again.score([example])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gm.load("clozee"), "no metric 'clozee' (did you mean 'cloze'?"),
        (lambda: gm.load("rouge", vale="x"), "no option 'vale' (did you mean 'value'?"),
        (lambda: gm.load("rouge", devise="cpu"), "no option 'devise' (did you mean 'device'?"),
        (lambda: gm.load("rouge", options=3), "options must be a dict or an options object"),
        (lambda: gm.load("rouge", dtype="fp8"), "dtype 'fp8': choose one of fp32, bf16, int8"),  # type: ignore[arg-type]
        (
            lambda: gm.load("rouge", device="cpu", runtime=gm.Runtime()),
            "give runtime or device, not both",
        ),
        (lambda: gm.load("rouge", runtime="cpu"), "runtime must be a gistmeter.Runtime, not str"),  # type: ignore[arg-type]
        (lambda: gm.score("rogue", ROWS), "no metric 'rogue' (did you mean 'rouge'?"),
        (lambda: gm.score("rouge", candidate=["A."]), "no keyword 'candidate' (did you mean 'candidates'?"),  # type: ignore[call-arg]
        (lambda: gm.score("rouge", ROWS, feilds={}), "no keyword 'feilds' (did you mean 'fields'?"),  # type: ignore[call-arg]
        (lambda: gm.score("rouge"), "there is nothing to score; give rows, or candidates"),
        (lambda: gm.score("rouge", ROWS, sources=["S."]), "or sources; not both"),
        (
            lambda: gm.score("rouge", candidates="A."),
            "candidates must be a list with one entry per row",
        ),
        (lambda: gm.score("rouge", gm.Example("1", "A.")), "rows must be a list of dicts or Examples"),
        (lambda: gm.score("rouge", 7), "rows must be a list of dicts or Examples"),
        (lambda: gm.score(Rouge(), ROWS, device="cpu"), "device: only for metrics given by name"),
        (lambda: gm.score([Rouge], ROWS), "a metric must be a name, a spec or a loaded metric"),  # type: ignore[list-item]
        (lambda: gm.score("rouge", ROWS, fields={"candidat": "x"}), "no field 'candidat' (did you mean"),
        (
            lambda: gm.score("rouge", ROWS, dimension="fluency"),
            "only maskeval, sumqe and quality take a dimension",
        ),
        (lambda: gm.benchmark("rouge", ROWS, candidates=["A."]), "no keyword 'candidates'"),  # type: ignore[call-arg]
    ],
)
def test_a_wrong_word_is_one_line_that_names_the_nearest(call: object, said: str) -> None:
    with pytest.raises(gm.errors.UsageError) as caught:
        call()  # type: ignore[operator]
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_column_is_named_with_the_nearest_one() -> None:
    rows = [{"candidate": "A.", "refrences": ["B."], "text": "C."}]
    with pytest.raises(gm.errors.MissingField) as caught:
        gm.score("rouge", rows)
    assert str(caught.value) == (
        "rouge needs references: no column 'references' (did you mean 'refrences'? "
        "pass fields={'references': 'refrences'}); there are: 'candidate', 'refrences', 'text'"
    )
    assert gm.score("rouge", rows, fields={"references": "refrences"}).n == 1
    with pytest.raises(gm.errors.MissingField, match="novelty needs candidate: no column 'candidate'"):
        gm.score("novelty", [{"text": "A.", "source": "B."}])
    with pytest.raises(gm.errors.MissingField, match="rouge needs references: no column 'references'; there"):
        gm.score("rouge", candidates=["A."], sources=["B."])


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(gm.errors.DataError, match="candidate 2, source 1"):
        gm.score("novelty", candidates=["A.", "B."], sources=["C."])


def test_a_column_that_looks_like_a_field_is_noted(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="gistmeter"):
        gm.score("novelty", [{"candidate": "A.", "source": "B.", "sytem": "x", "colour": "red"}])
    assert caplog.messages == ["column 'sytem' is ignored (did you mean 'system'?)"]


@pytest.mark.parametrize("missing", [None, math.nan, ""])
@pytest.mark.parametrize("field", ["candidate", "source", "references"])
def test_a_missing_text_is_a_problem_of_its_row(field: str, missing: object) -> None:
    rows = [ROWS[0], {**ROWS[1], field: missing}, ROWS[2]]
    examples = [gm.Example(**row) for row in rows]  # type: ignore[arg-type]
    for data in (rows, examples):
        report = gm.score(["rouge", "novelty"], data)
        needed = {"source": "novelty", "references": "rouge"}.get(field, "rouge")
        first, second, third = report[needed].scores
        assert second.problem is not None
        assert math.isnan(second.value)
        assert [score.id for score in (first, second, third)] == ["a", "b", "c"]
        assert first.problem is third.problem is None
        assert report[needed].n_undefined == 1


def test_a_missing_reference_is_left_out_and_flagged() -> None:
    for missing in (None, math.nan, ""):
        example = gm.Example("1", "Rain.", references=[missing, "Rain."])  # type: ignore[list-item]
        score = gm.score("rouge", [example]).scores[0]
        assert score.value == 1.0
        assert "empty_side (reference 0)" in map(str, score.flags)


def test_a_row_of_the_wrong_type_costs_itself() -> None:
    rows = [ROWS[0], "text", None, {**ROWS[1], "candidate": 3.5}, {**ROWS[2], "id": ["x"]}]
    report = gm.score("rouge", rows)
    assert [score.problem for score in report.scores] == [
        None,
        "a row must be a dict or an Example, not str",
        "a row must be a dict or an Example, not NoneType",
        "candidate must be a string, not float",
        "id must be a string or a number, not list",
    ]
    assert [score.id for score in report.scores] == ["a", "2", "3", "b", "['x']"]


def test_examples_without_an_id_are_numbered() -> None:
    texts = (gm.Example(candidate=f"Text {n}.", source="Text.") for n in range(3))
    assert [score.id for score in gm.score("novelty", texts).scores] == ["1", "2", "3"]
    assert gm.Example(7, "A.", doc_id=3).doc_id == "3"  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="an Example needs a candidate"):
        gm.Example("A text in the place of the id.")
    with pytest.raises(UsageError, match="references must be a list of texts"):
        gm.Example(candidate="A.", references="B.")
    with pytest.raises(UsageError, match="source must be a string, not int"):
        gm.Example(candidate="A.", source=3)  # type: ignore[arg-type]


def test_nothing_to_score_is_an_empty_report() -> None:
    report = gm.score("rouge", [])
    assert (report.scores, report.n) == ((), 0)
    assert "rouge" in str(report)


def test_several_metrics_by_name_by_spec_and_loaded() -> None:
    loaded = Rouge(RougeOptions(value="rouge1_f1"))
    report = gm.score(["rouge", loaded, Extractive(), "rouge:value=rouge2_f1"], ROWS)
    assert report.metrics == ("rouge", "rouge (2)", "extractive", "rouge:value=rouge2_f1")
    assert gm.score([loaded, "rouge"], ROWS).metrics == ("rouge (2)", "rouge")
    assert report["rouge (2)"].scores == tuple(loaded.score([gm.Example(**row) for row in ROWS]))  # type: ignore[arg-type]


def test_all_leaves_out_what_needs_other_columns(tiny_bert: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = [{"candidate": row["candidate"], "source": row["source"]} for row in ROWS]
    with caplog.at_level(logging.INFO, logger="gistmeter"):
        report = gm.score("all", rows, model=str(tiny_bert), progress=False)
    assert "novelty" in report
    assert "rouge" not in report
    assert any("rouge needs references" in message for message in caplog.messages)
    with pytest.raises(gm.errors.MissingField, match="rouge needs references"):
        gm.score(["all", "rouge"], rows, model=str(tiny_bert), progress=False)


def test_the_command_line_and_python_write_the_same_rows(tmp_path: Path, tiny_bert: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "cli.jsonl"
    rows.write_text("".join(json.dumps({**row, "doc_id": "d"}) + "\n" for row in ROWS))
    specs = ["speed:against=source,value=min", "rouge"]
    assert main(["score", *specs, "-i", str(rows), "-o", str(out), "--model", str(tiny_bert), "--quiet"]) == 0
    report = gm.score(specs, rows, model=str(tiny_bert))
    report.to_jsonl(tmp_path / "python.jsonl")
    assert (tmp_path / "python.jsonl").read_text() == out.read_text()


def test_benchmark_gives_the_figures_of_the_command_line(tmp_path: Path) -> None:
    rows = [
        {
            **ROWS[n % 3],
            "id": str(n),
            "candidate": "rain " * (n % 4 + 1),
            "scores": {"fluency": n % 5, "focus": n},
        }
        for n in range(9)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    figures = tmp_path / "figures.json"
    data = str(tmp_path / "rows.jsonl")
    assert main(["benchmark", "rouge", "novelty", "--data", data, "--json", str(figures), "--quiet"]) == 0
    found = gm.benchmark(["rouge", "novelty"], rows)
    assert found.to_dict()["rows"] == [
        row for row in json.loads(figures.read_text()) if row["level"] == "pooled"
    ]
    assert "rows, pooled level" in str(found)
    assert list(gm.benchmark(["rouge", "novelty"], data)) == list(found)


def test_benchmark_has_the_levels_that_the_rows_name() -> None:
    rows = [
        {**ROWS[n % 3], "doc_id": f"d{n // 3}", "system": f"s{n % 3}", "scores": {"fluency": n * n % 7}}
        for n in range(12)
    ]
    assert {row["level"] for row in gm.benchmark("rouge", rows)} == {"pooled", "summary", "system"}
    without = [{name: value for name, value in row.items() if name != "system"} for row in rows]
    assert {row["level"] for row in gm.benchmark("rouge", without)} == {"pooled", "summary"}
    alone = [{name: value for name, value in row.items() if name != "doc_id"} for row in without]
    assert {row["level"] for row in gm.benchmark("rouge", alone)} == {"pooled"}
    with pytest.raises(gm.errors.DataError, match="no row has human scores"):
        gm.benchmark("rouge", ROWS)


def test_progress_counts_rows(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    gm.score("rouge", ROWS)
    assert capsys.readouterr().err == "", "a short run shows no bar"
    monkeypatch.setattr(progress, "DELAY", 0)
    gm.score("rouge", ROWS)
    shown = capsys.readouterr().err
    assert "rouge" in shown
    assert "0/3" in shown
    assert "row" in shown
    gm.score("rouge", ROWS, progress=False)
    assert capsys.readouterr().err == ""


@pytest.fixture
def quiet_logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger("gistmeter")
    yield logger
    assert logger.handlers == [], "the command line removes its handler"


def test_notes_go_through_logging(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    quiet_logger: logging.Logger,
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(ROWS[0]) + "\nnot json\n")
    assert main(["score", "rouge", "-i", str(rows)]) == 3
    assert "1 of 2 rows are unreadable" in capsys.readouterr().err
    assert [record.name for record in caplog.records] == ["gistmeter"]
    assert main(["score", "rouge", "-i", str(rows), "--quiet"]) == 3
    assert capsys.readouterr().err == ""
    assert quiet_logger.level == logging.NOTSET
