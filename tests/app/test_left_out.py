"""Test `gistmeter score all` without some fields, and the summary of `--json`."""

import json
from pathlib import Path

import pytest

import gistmeter as gm
from gistmeter import catalog
from gistmeter.app.cli import main

ROWS = [
    {"id": "1", "candidate": "Rain fell.", "source": "Rain fell all day.", "doc_id": "a"},
    {"id": "2", "candidate": "It snowed.", "source": "It snowed at night.", "doc_id": "b"},
]
FEW = {name: catalog.METRICS[name] for name in ("rouge", "chrf", "sari", "novelty", "extractive")}


@pytest.fixture(autouse=True)
def few_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "METRICS", FEW)


def write(path: Path, *rows: object) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_all_scores_what_the_rows_allow_and_names_what_it_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, out = write(tmp_path / "rows.jsonl", *ROWS), tmp_path / "out.jsonl"
    assert main(["score", "all", "-i", rows, "-o", str(out)]) == 0
    scored = {json.loads(line)["metric"] for line in out.read_text().splitlines()}
    assert scored == {"novelty", "extractive"}
    assert "gistmeter: left out rouge, chrf, sari: the rows have no references\n" in capsys.readouterr().err


def test_one_pair_with_its_source_is_scored(capsys: pytest.CaptureFixture[str]) -> None:
    pair = ["--candidate-text", "Rain fell.", "--source-text", "Rain fell all day."]
    assert main(["score", "all", *pair]) == 0
    printed = capsys.readouterr()
    assert "novelty" in printed.out and "rouge" not in printed.out
    assert "left out rouge, chrf" in printed.err


def test_a_metric_that_is_asked_for_by_name_is_not_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = write(tmp_path / "rows.jsonl", *ROWS)
    assert main(["score", "all", "rouge", "-i", rows]) == 3
    said = capsys.readouterr().err
    assert "gistmeter: rouge has no value for any row; the first problem: the row has no references" in said
    assert "left out chrf, sari:" in said


def test_a_field_that_a_later_row_has_is_not_absent(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", *ROWS, {**ROWS[0], "id": "3", "references": ["Rain."]})
    out = tmp_path / "out.jsonl"
    assert main(["score", "all", "-i", rows, "-o", str(out), "--quiet"]) == 0
    assert {json.loads(line)["metric"] for line in out.read_text().splitlines()} == set(FEW)


def test_the_summary_as_json_is_that_of_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, summary = write(tmp_path / "rows.jsonl", *ROWS), tmp_path / "summary.json"
    command = ["score", "novelty", "extractive", "-i", rows]
    assert main([*command, "--json", str(summary)]) == 0
    capsys.readouterr()
    assert main([*command, "--json", "-"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(summary.read_text(encoding="utf-8"))
    assert printed == gm.score(["novelty", "extractive"], ROWS, progress=False).to_dict()["metrics"]


@pytest.mark.parametrize("more", [["-o", "-"], ["--explain"]])
def test_one_thing_at_a_time_is_printed(
    tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = write(tmp_path / "rows.jsonl", *ROWS)
    assert main(["score", "novelty", "-i", rows, "--json", "-", *more]) == 2
    assert "--json - prints on standard output" in capsys.readouterr().err


def test_the_summary_does_not_replace_the_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = write(tmp_path / "rows.jsonl", *ROWS)
    assert main(["score", "novelty", "-i", rows, "--json", rows]) == 2
    assert "is an input and would be replaced" in capsys.readouterr().err
