"""Test reports: one metric or several, lossless conversion, and a short `repr`."""

import gzip
import importlib.util
import json
import math
from pathlib import Path
from typing import Any

import pytest

from gistmeter.core.errors import DataError, MissingExtra, UsageError
from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.report import frame
from gistmeter.report.correlations import Correlations
from gistmeter.report.frame import Kind
from gistmeter.report.report import Report

SPEED = Signature.of("speed", version=1, match="greedy")
CHRF = Signature.of("chrf", version=1)
EXAMPLES = [
    Example("1", "A cat.", system="lead", doc_id="d1"),
    Example("2", ""),
    Example("<b>", "It rained.", doc_id="d2"),
]
CUT = (Flag("truncated", "source", kept=510, total=1322), Flag("degenerate"))
SPANS = (Span("candidate", 0, 2, 0.5, note="n"),)
REPORT = Report.of(
    {
        "speed": (
            SPEED,
            [
                Score("1", 0.25, {"recall": 0.5, "f1": math.nan}, SPANS, CUT),
                Score.undefined("2", "the candidate is empty"),
                Score("<b>", 0.75, {"recall": 1.0}),
            ],
        ),
        "chrf": (CHRF, [Score("1", 30.0), Score("2", 40.0), Score("<b>", 50.0, {"recall": 0.1})]),
    },
    EXAMPLES,
)
WIDE = Report.of(
    {f"metric:option={n}": (CHRF, [Score("1", 0.5)] * 1000) for n in range(100)}, EXAMPLES[:1] * 1000
)


def test_one_metric_has_its_figures_as_attributes() -> None:
    speed = REPORT["speed"]
    assert (speed.mean, speed.n, speed.n_undefined, speed.signature) == (0.5, 2, 1, SPEED)
    assert speed.low <= speed.mean <= speed.high
    assert [score.id for score in speed.scores] == ["1", "2", "<b>"]
    assert [part.metrics for part in REPORT] == [("speed",), ("chrf",)]
    assert ("speed" in REPORT, "rouge" in REPORT, len(REPORT)) == (True, False, 2)


def test_several_metrics_must_be_told_apart() -> None:
    for name in ("mean", "low", "high", "n", "n_undefined", "scores", "signature"):
        with pytest.raises(UsageError, match="this report has 2 metrics: speed, chrf; select one"):
            getattr(REPORT, name)
    with pytest.raises(UsageError, match=r"no metric 'sped' in this report \(did you mean 'speed'"):
        REPORT["sped"]


def test_print_shows_means_intervals_and_signatures() -> None:
    examples, summary, notes, signatures = str(REPORT).split("\n\n")
    assert "<b>     0.750  50.000" in examples
    assert "speed 0.500 [0.250, 0.750] 2 1" in " ".join(summary.split())
    assert "the candidate is empty" in notes
    assert signatures.splitlines() == [SPEED.text, CHRF.text]


def test_a_dict_is_strict_json_with_everything() -> None:
    found = json.loads(json.dumps(REPORT.to_dict(), allow_nan=False))
    first, second = found["metrics"]
    assert first | {"low": 0, "high": 0} == {
        "metric": "speed", "mean": 0.5, "low": 0, "high": 0, "n": 2, "n_undefined": 1, "signature": SPEED.text
    }  # fmt: skip
    assert second["mean"] == 40.0
    assert [(row["id"], row["metric"]) for row in found["rows"]] == [
        (id, metric) for id in ("1", "2", "<b>") for metric in ("speed", "chrf")
    ]
    assert found["rows"][0]["parts"] == {"recall": 0.5, "f1": None}
    assert found["rows"][0]["spans"][0]["note"] == "n"
    assert found["rows"][2]["value"] is None
    nothing = Report.of({"chrf": (CHRF, [Score.undefined("1", "no")])}, EXAMPLES[:1]).to_dict()["metrics"][0]
    assert (nothing["mean"], nothing["low"], nothing["n"]) == (None, None, 0)


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_json_lines_hold_the_rows(tmp_path: Path, name: str) -> None:
    REPORT.to_jsonl(tmp_path / name)
    data = (tmp_path / name).read_bytes()
    lines = (gzip.decompress(data) if name.endswith(".gz") else data).decode().splitlines()
    assert [json.loads(line) for line in lines] == REPORT.to_dict()["rows"]


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot write .*No such file"):
        REPORT.to_jsonl(tmp_path / "none" / "out.jsonl")


def test_a_file_that_fills_the_disk_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"earlier")
    written = Path.write_bytes

    def fail(self: Path, data: bytes) -> int:
        written(self, data[:9])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(DataError, match="No space left"):
        REPORT.to_jsonl(path)
    assert path.read_bytes() == b"earlier" and list(tmp_path.iterdir()) == [path]


def records(kind: Kind) -> list[dict[str, Any]]:
    pytest.importorskip(kind)
    made = REPORT.to_frame(kind)
    assert type(made).__module__.partition(".")[0] == kind
    if kind == "pandas":
        made = made.astype(object).where(made.notna(), None)
    rows: list[dict[str, Any]] = (
        made.to_dict("records")
        if kind == "pandas"
        else made.to_dicts()
        if kind == "polars"
        else made.to_pylist()
    )
    return rows


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_a_score(kind: Kind) -> None:
    first, second, undefined, *_, last = records(kind)
    assert first == {
        "id": "1",
        "metric": "speed",
        "value": 0.25,
        "parts.recall": 0.5,
        "parts.f1": None,
        "flags": "truncated (source, 510 of 1322); degenerate",
        "problem": None,
        "system": "lead",
        "doc_id": "d1",
    }
    assert (second["metric"], second["value"], second["parts.recall"]) == ("chrf", 30.0, None)
    assert (undefined["value"], undefined["problem"]) == (None, "the candidate is empty")
    assert (last["id"], last["parts.recall"]) == ("<b>", 0.1)


def test_a_frame_of_undefined_scores_keeps_its_types() -> None:
    report = Report.of({"chrf": (CHRF, [Score.undefined("1", "no")])}, EXAMPLES[:1])
    polars = pytest.importorskip("polars")
    assert report.to_frame("polars").schema["value"] == polars.Float64
    assert report.to_frame("polars").schema["system"] == polars.String
    pytest.importorskip("pandas")
    assert report.to_frame("pandas")["value"].dtype == float


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_lone_surrogate_reaches_no_frame(kind: Kind) -> None:
    pytest.importorskip(kind)
    report = Report.of({"chrf": (CHRF, [Score("\ud800", 0.5)])}, [Example("\ud800", "A.")])
    assert "?" in str(report.to_frame(kind))


def test_the_library_of_a_frame_must_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="kind 'excel': choose one of pandas, polars, pyarrow"):
        REPORT.to_frame("excel")  # type: ignore[arg-type]
    installed = ["pyarrow"]
    found = importlib.util.find_spec
    monkeypatch.setattr(frame, "find_spec", lambda name: found(name) if name in installed else None)
    with pytest.raises(MissingExtra, match=r"polars is not installed; .* 'gistmeter\[frames\]'"):
        REPORT.to_frame("polars")
    pytest.importorskip("pyarrow")
    assert REPORT.to_frame().num_rows == 6
    installed.clear()
    with pytest.raises(MissingExtra, match="pandas is not installed"):
        REPORT.to_frame()


def test_a_repr_stays_short() -> None:
    assert repr(REPORT).splitlines()[0] == "Report: 3 rows, 2 metrics"
    assert "  speed  0.500 [0.250, 0.750], n 2, undefined 1" in repr(REPORT)
    assert len(repr(WIDE).splitlines()) == 22
    assert "… and 80 more" in repr(WIDE)
    long = Report.of({"metric:" + "x" * 5000: (CHRF, [Score("1", 0.5)])}, EXAMPLES[:1])
    assert len(repr(long)) < 200


def test_a_notebook_shows_plain_tables() -> None:
    html = REPORT._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 2
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "[0.250, 0.750]" in html
    assert len(WIDE._repr_html_()) < 400_000
    assert "20 of 1,000 rows" in WIDE._repr_html_()


def figure(**others: object) -> dict[str, object]:
    names = {"task": "rows", "metric": "speed", "part": "value", "dimension": "fluency", "level": "pooled"}
    numbers = {
        "n": 8,
        "n_undefined": 0,
        "pearson": 0.5,
        "spearman": 0.4,
        "kendall": 0.3,
        "low": 0.1,
        "high": None,
    }
    return {**names, **numbers, "signature": "speed|version=1", **others}


def test_correlations_are_shown_and_converted(tmp_path: Path) -> None:
    found = Correlations([figure(), figure(metric="<b>", pearson=None, problem="too few")])
    assert "rows, pooled level" in str(found)
    assert repr(found) == "Correlations: 2 rows, 2 metrics; print() shows the table"
    assert [row["metric"] for row in found] == ["speed", "<b>"]
    assert "&lt;b&gt;" in found._repr_html_()
    found.to_jsonl(tmp_path / "found.jsonl")
    lines = (tmp_path / "found.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == found.to_dict()["rows"]
    rows = pytest.importorskip("polars") and found.to_frame("polars").to_dicts()
    assert (rows[0]["pearson"], rows[0]["high"], rows[0]["problem"]) == (0.5, None, None)
    assert (rows[1]["pearson"], rows[1]["problem"]) == (None, "too few")
