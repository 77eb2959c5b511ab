"""Test `gistmeter benchmark --scores`, also with invalid rows and invalid scores."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import pearsonr

from gistmeter.app.cli import main
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.io.scores_file import Column, ScoresFile

HUMAN = [1.0, 4.0, 2.0, 5.0, 3.0, 4.5]
MINE = [0.1, 0.9, 0.3, 0.7, 0.5, 0.6]


def test_a_column_stands_in_the_table_as_a_metric(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _rows(tmp_path / "t.jsonl", HUMAN)
    scores = _csv(
        tmp_path / "mine.csv", ["id,mine,system,other", *(f"{i},{x},S,{-x}" for i, x in _numbered(MINE))]
    )
    figures = _benchmark(tmp_path / "t.jsonl", "--scores", str(scores))
    assert {row["metric"] for row in figures} == {"mine", "other"}
    flat = _flat(figures, "mine")
    assert flat["pearson"] == pytest.approx(pearsonr(MINE, HUMAN).statistic, abs=1e-12)
    assert (flat["n"], flat["n_undefined"]) == (6, 0)
    assert flat["low"] < flat["pearson"] < flat["high"]
    assert _flat(figures, "other")["pearson"] == pytest.approx(-flat["pearson"], abs=1e-12)
    digest = ScoresFile.read(scores).sha256[:16]
    assert flat["signature"] == f"scores|version=1|file=mine.csv|sha256={digest}|column=mine"
    said = capsys.readouterr()
    assert "mine" in said.out and said.err == ""


def test_columns_and_metrics_stand_side_by_side(tmp_path: Path) -> None:
    _rows(tmp_path / "t.jsonl", HUMAN)
    lines = [json.dumps({"id": i, "mine": x}) for i, x in _numbered(MINE)]  # ids that are numbers
    first, second = (_csv(tmp_path / name, lines) for name in ("a.jsonl", "b.jsonl"))
    data = tmp_path / "t.jsonl"
    figures = _benchmark(data, "length_ratio", "--scores", str(first), "--scores", str(second))
    assert list(dict.fromkeys(row["metric"] for row in figures)) == [
        f"{first}:mine",
        f"{second}:mine",
        "length_ratio",
    ]
    assert _flat(figures, f"{first}:mine")["n"] == 6


def test_every_two_metrics_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _rows(tmp_path / "t.jsonl", HUMAN)
    scores = _csv(tmp_path / "mine.csv", ["id,mine,other", *(f"{i},{x},{-x}" for i, x in _numbered(MINE))])
    _benchmark(tmp_path / "t.jsonl", "--scores", str(scores), "--compare")
    table = capsys.readouterr().out.partition("\n\n")[2]
    r = pearsonr(MINE, HUMAN).statistic
    assert f"{2 * r:.3f}" in table, "the difference of r and -r"
    (pair,) = json.loads((tmp_path / "figures.pairs.json").read_text())
    assert (pair["a"], pair["b"]) == ("mine", "other")
    assert pair["difference"] == pytest.approx(2 * r, abs=1e-12)
    _benchmark(tmp_path / "t.jsonl", "length_ratio", "--compare", "system")
    assert "PERM-BOTH" not in capsys.readouterr().out, "one metric makes no pair"


def test_missing_ids_are_undefined_and_counted(tmp_path: Path) -> None:
    _rows(tmp_path / "t.jsonl", HUMAN)
    kept = list(_numbered(MINE))
    scores = _csv(tmp_path / "mine.csv", ["id,mine", *(f"{i},{x}" for i, x in kept[:3]), "4,", "5,NaN"])
    figures = _benchmark(tmp_path / "t.jsonl", "--scores", str(scores))
    found = _flat(figures, "mine")
    assert (found["n"], found["n_undefined"]) == (3, 3)
    assert found["pearson"] == pytest.approx(pearsonr(MINE[:3], HUMAN[:3]).statistic, abs=1e-12)
    score = ScoresFile.read(scores).match({"t": ["5"]}, whole=False)["t"][0].score([Example("5", "A.")])[0]
    assert score.problem == "mine.csv has no mine for this id"


def test_a_metric_undefined_on_a_third_and_a_constant_one(tmp_path: Path) -> None:
    _rows(tmp_path / "t.jsonl", HUMAN)
    lines = ["id,third,same", *(f"{i},{'' if i % 3 == 0 else x},0.5" for i, x in _numbered(MINE))]
    scores = _csv(tmp_path / "mine.csv", lines)
    figures = _benchmark(tmp_path / "t.jsonl", "--scores", str(scores))
    third, same = _flat(figures, "third"), _flat(figures, "same")
    assert (third["n"], third["n_undefined"]) == (4, 2)
    assert third["pearson"] is not None and "problem" not in third
    assert (same["n"], same["n_undefined"], same["pearson"], same["low"]) == (6, 0, None, None)
    assert same["problem"]


def test_a_constant_metric_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _rows(tmp_path / "t.jsonl", HUMAN)
    scores = _csv(tmp_path / "mine.csv", ["id,same,word", *(f"{i},7,yes" for i, _ in _numbered(MINE))])
    assert main(["benchmark", "--data", str(tmp_path / "t.jsonl"), "--scores", str(scores)]) == 0
    said = capsys.readouterr()
    assert "t: same: no correlation with q: " in said.err
    assert "skipped columns without numbers: word" in said.err
    assert "—" in said.out


def test_a_dimension_that_some_rows_lack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [_row(i, {"q": human} | ({"r": human} if i <= 4 else {})) for i, human in _numbered(HUMAN)]
    rows[0]["scores"]["q"] = "not said"  # a score that is no number is none
    rows[1]["scores"]["q"] = "4.0"  # and one in quotes is one
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = _csv(tmp_path / "mine.csv", ["id,mine", *(f"{i},{x}" for i, x in _numbered(MINE))])
    out = tmp_path / "out.json"
    arguments = [
        "benchmark",
        "--data",
        str(tmp_path / "t.jsonl"),
        "--scores",
        str(scores),
        "--json",
        str(out),
    ]
    assert main(arguments) == 0
    said = capsys.readouterr().err
    assert "t: 1 of 6 rows have no score for q" in said and "t: 2 of 6 rows have no score for r" in said
    figures = json.loads(out.read_text())
    q, r = _flat(figures, "mine", "q"), _flat(figures, "mine", "r")
    assert (q["n"], q["n_undefined"], r["n"], r["n_undefined"]) == (5, 0, 4, 0)
    assert q["pearson"] == pytest.approx(pearsonr(MINE[1:], HUMAN[1:]).statistic, abs=1e-12)
    assert r["pearson"] == pytest.approx(pearsonr(MINE[:4], HUMAN[:4]).statistic, abs=1e-12)


def test_scores_for_some_of_the_files_in_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    _rows(folder / "a.jsonl", HUMAN)
    _rows(folder / "b.jsonl", HUMAN[::-1])
    _rows(folder / "c.jsonl", HUMAN, prefix="c")
    both = [f"{i},{x},{task}" for task in "ab" for i, x in _numbered(MINE)]
    plain = _csv(tmp_path / "plain.csv", ["id,mine", *(f"{i},{x}" for i, x in _numbered(MINE))])
    named = _csv(tmp_path / "named.csv", ["id,mine,task", *both])
    assert main(["benchmark", "--data", str(folder), "--scores", str(plain)]) == 3
    assert "the id 1 matches rows of a and b; add a column task" in capsys.readouterr().err
    figures = _benchmark(folder, "--scores", str(named))
    found = {row["task"]: row["pearson"] for row in figures if row["level"] == "pooled"}
    assert found == pytest.approx(
        {"a": pearsonr(MINE, HUMAN).statistic, "b": pearsonr(MINE, HUMAN[::-1]).statistic}, abs=1e-12
    )


def test_of_a_limited_run_other_ids_are_no_mistake(tmp_path: Path) -> None:
    _rows(tmp_path / "t.jsonl", HUMAN)
    scores = _csv(tmp_path / "mine.csv", ["id,mine", *(f"{i},{x}" for i, x in _numbered(MINE))])
    figures = _benchmark(tmp_path / "t.jsonl", "--scores", str(scores), "--limit", "4")
    assert _flat(figures, "mine")["n"] == 4


def test_what_is_declared_of_a_task_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [_row(i, {"hter": human / 5, "grammar": human}) for i, human in _numbered(HUMAN)]
    (tmp_path / "chaganty_lq.mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qags_xsum.jsonl").write_text(json.dumps(_row(9, {"consistency": 1.0})) + "\n")
    out = tmp_path / "out" / "out.json"
    out.parent.mkdir()
    assert main(["benchmark", "length_ratio", "--data", str(tmp_path), "--json", str(out)]) == 0
    said = capsys.readouterr()
    assert "hter (lower is better)" in said.out
    assert "chaganty_lq.mine: lower hter is better" in said.err
    assert "chaganty_lq.mine: 5 scores for grammar are outside its scale, -1 to 1" in said.err
    figures = json.loads(out.read_text())
    assert {row["dimension"] for row in figures} == {"hter", "grammar", "consistency"}
    levels = {name: {row["level"] for row in figures if row["task"] == name} for name in ("qags_xsum",)}
    assert levels == {"qags_xsum": {"pooled"}}
    (tmp_path / "qags_xsum.jsonl").rename(tmp_path / "frank.jsonl")
    assert main(["benchmark", "length_ratio", "--data", str(tmp_path)]) == 2
    assert "never pooled" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["id,mine", "1,0.5", "1,0.6"], "line 3: the id 1 is repeated"),
        (["id,mine", "1,0.5", "2,high"], "line 3: mine is 'high', not a number"),
        (["id,mine", "1,0.5", "2,inf"], "line 3: mine is 'inf', not a number"),
        (["id,mine", "1,0.5", "99,0.6", "98,0.6"], "2 ids match no row; the first: 99"),
        (["id,mine,task", "1,0.5,t", "1,0.6,u"], "1 ids match no row; the first: 1 of task u"),
        (["id,mine", "1,low", "2,high"], "has no column of numbers besides the ids"),
        (["id", "1"], "has no column of numbers besides the ids"),
        (["name,mine", "1,0.5"], "has no column 'id'"),
        (["id,mine", ",0.5"], "the id must be a string or a number"),
        (["id,mine", "1"], "line 2: the row has 1 cells, but there are 2"),
        (['{"id": 1, "mine": "0.5"}'], "line 1: mine is '0.5', not a number; leave a missing value empty"),
        (['{"id": 1, "mine": 0.5}', '{"id": 2, "mine": true}'], "line 2: mine is True, not a number"),
        (
            ['{"id": 1, "mine": 0.5}', '{"id": true, "mine": 1}'],
            "line 2: the id must be a string or a number",
        ),
        (['{"id": 1, "mine": 0.5}', "{"], "line 2: not valid JSON"),
    ],
)
def test_scores_that_cannot_be_used_are_named(
    lines: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _rows(tmp_path / "t.jsonl", HUMAN)
    scores = _csv(tmp_path / ("mine.jsonl" if lines[0].startswith("{") else "mine.csv"), lines)
    assert main(["benchmark", "--data", str(tmp_path / "t.jsonl"), "--scores", str(scores)]) == 3
    said = capsys.readouterr().err
    assert says in said and str(scores) in said


def test_rows_that_share_an_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = _rows(tmp_path / "t.jsonl", HUMAN)
    with data.open("a") as file:
        file.write(json.dumps(_row(1, {"q": 2.0})) + "\n")
    assert main(["benchmark", "length_ratio", "--data", str(data)]) == 0
    assert "t: 1 ids occur in more than one row, and each row counts; the first: 1" in capsys.readouterr().err
    scores = _csv(tmp_path / "mine.csv", ["id,mine", "1,0.5"])
    assert main(["benchmark", "--data", str(data), "--scores", str(scores)]) == 3
    assert "the id 1 matches 2 rows of t; make the ids of rows unique" in capsys.readouterr().err


def test_a_metric_or_scores_must_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = _rows(tmp_path / "t.jsonl", HUMAN)
    assert main(["benchmark", "--data", str(data)]) == 2
    assert "give a METRIC, or a file with --scores" in capsys.readouterr().err
    assert main(["benchmark", "--data", str(data), "--scores", str(tmp_path / "none.csv")]) == 3
    assert "none.csv does not exist" in capsys.readouterr().err
    with pytest.raises(DataError, match="--scores takes a csv, tsv or jsonl file"):
        (tmp_path / "mine.parquet").touch()
        ScoresFile.read(tmp_path / "mine.parquet")


def test_a_column_follows_the_law_of_metrics() -> None:
    column = Column("mine", "mine.csv", "0" * 64, {"1": 0.5, "3": 0.0})
    examples = [Example(str(i), "A text.") for i in (3, 2, 1, 1)]
    scores = column.score(examples)
    assert [score.id for score in scores] == ["3", "2", "1", "1"]
    assert [score.value for score in scores if score.problem is None] == [0.0, 0.5, 0.5]
    assert column.score([]) == []


def test_files_that_differ_in_their_format_only_are_two_tasks(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    _rows(data / "mine.jsonl", HUMAN)
    lines = [
        'id,source,candidate,"scores.q"',
        *(f"{i},A goat ate,A{' ate' * i},{x}" for i, x in _numbered(MINE)),
    ]
    _csv(data / "mine.csv", lines)
    _rows(data / "other.jsonl", HUMAN)
    figures = _benchmark(data, "length_ratio")
    assert {row["task"] for row in figures} == {"mine.csv", "mine.jsonl", "other"}
    means = {
        _flat([row for row in figures if row["task"] == task], "length_ratio")["pearson"]
        for task in ("mine.csv", "mine.jsonl")
    }
    assert len(means) == 2


def test_a_suite_does_not_choose_between_two_files_of_its_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("summeval.jsonl", "summeval.dev.jsonl"):
        _rows(tmp_path / name, HUMAN)
    assert main(["reproduce", "summeval", "--data", str(tmp_path), "-o", str(tmp_path / "out")]) == 2
    assert "summeval.dev.jsonl and summeval.jsonl are both files of summeval" in capsys.readouterr().err


def _numbered(values: Sequence[float]) -> list[tuple[int, float]]:
    return list(enumerate(values, 1))


def _row(id: int | str, scores: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": id,
        "source": "A goat ate hats.",
        "candidate": "A goat" + " ate" * int(str(id)[-1]),
        "scores": scores,
    }


def _rows(path: Path, human: Sequence[float], prefix: str = "") -> Path:
    rows = [_row(f"{prefix}{i}" if prefix else i, {"q": value}) for i, value in _numbered(human)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _csv(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _flat(figures: list[dict[str, Any]], metric: str, dimension: str = "q") -> dict[str, Any]:
    (row,) = (
        row
        for row in figures
        if (row["metric"], row["dimension"], row["level"], row["part"])
        == (metric, dimension, "pooled", "value")
    )
    return row


def _benchmark(data: Path, *arguments: str) -> list[dict[str, Any]]:
    """Run the command quietly and return its figures."""
    out = data.parent / "figures.json"
    assert (
        main(["benchmark", *arguments, "--data", str(data), "--json", str(out), "--quiet", "--overwrite"])
        == 0
    )
    figures: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))
    return figures
