"""Test `gistmeter report` and `gistmeter score --explain` from the command line."""

import json
from pathlib import Path

import pytest

from gistmeter.app.cli import main
from tests.unpacked import unpacked

ROWS = [
    {
        "id": "a",
        "candidate": "Rain fell.",
        "source": "Rain fell all day.",
        "system": "x",
        "scores": {"good": 3},
    },
    {
        "id": "b",
        "candidate": "Snow fell.",
        "source": "Rain fell all day.",
        "system": "y",
        "scores": {"good": 1},
    },
    {"id": "a", "candidate": "It rained.", "source": "Rain fell all day.", "system": "z"},
    {"id": "c", "candidate": "", "source": "Rain fell all day."},
]


@pytest.fixture
def rows(tmp_path: Path) -> str:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return str(path)


def scored(rows: str, path: Path, *metrics: str) -> str:
    assert main(["score", *metrics, "-i", rows, "-o", str(path), "--quiet"]) == 0
    return str(path)


def data_in(path: Path) -> dict[str, object]:
    return unpacked(path.read_text("utf-8").partition('class="gm-data">')[2].partition("<")[0])


@pytest.mark.parametrize("name", ["scores.jsonl", "scores.jsonl.gz", "scores.csv", "scores.parquet"])
def test_every_output_becomes_the_same_report(
    name: str, rows: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = scored(rows, tmp_path / "plain.jsonl", "extractive", "novelty")
    scores = scored(rows, tmp_path / name, "extractive", "novelty")
    capsys.readouterr()
    pages = [tmp_path / "plain.html", tmp_path / "other.html"]
    for file, page in zip([plain, scores], pages, strict=True):
        assert main(["report", file, "-i", rows, "-o", str(page)]) == 0
    assert capsys.readouterr().out == f"{pages[0]}\n{pages[1]}\n"
    data = data_in(pages[1])
    assert data == data_in(pages[0])
    found = data["rows"]
    assert isinstance(found, list)
    assert [row["id"] for row in found] == ["a", "b", "a", "c"]
    assert [len(row["texts"]) for row in found] == [2, 2, 2, 1], "rows of one id keep their own texts"
    assert found[1]["human"] == {"good": 1.0}
    assert found[0]["scores"][0]["value"] == 1.0
    assert found[0]["scores"][0]["spans"][0][7] == [[1, 0, 0, 9]], "copied words light up in the source"
    assert found[3]["scores"][0]["problem"] == "the candidate is empty"


def test_files_of_two_runs_may_be_joined(rows: str, tmp_path: Path) -> None:
    parts = [Path(scored(rows, tmp_path / f"{name}.jsonl", name)) for name in ("extractive", "novelty")]
    joined = tmp_path / "joined.jsonl"
    joined.write_bytes(b"".join(part.read_bytes() for part in parts))
    assert main(["report", str(joined), "-i", rows, "-o", str(tmp_path / "r.html")]) == 0
    data = data_in(tmp_path / "r.html")
    assert data["total"] == len(ROWS)
    assert [len(row["scores"]) for row in data["rows"]] == [2] * 4  # type: ignore[attr-defined]  # a list


def test_only_sampled_rows_have_texts(rows: str, tmp_path: Path) -> None:
    scores = scored(rows, tmp_path / "scores.jsonl", "extractive")
    assert main(["report", scores, "-i", rows, "-o", str(tmp_path / "r.html"), "--rows", "2"]) == 0
    data = data_in(tmp_path / "r.html")
    assert data["total"] == 4
    assert [len(row["texts"]) for row in data["rows"]] == [2, 2]  # type: ignore[attr-defined]  # a list


def test_without_rows_the_values_are_shown_and_a_note_says_how_to_see_texts(
    rows: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = scored(rows, tmp_path / "scores.jsonl", "extractive")
    assert main(["report", scores, "-o", str(tmp_path / "r.html")]) == 0
    assert "with -i FILE to see their texts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "holds no scores"),
        ("{}", "is no output of gistmeter score"),
        ("[1]", "is no output of gistmeter score"),
        ("{", "is no output of gistmeter score"),
        ('{"id": "a", "candidate": "Rain."}', "is no output of gistmeter score"),
    ],
)
def test_other_files_are_refused(
    line: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scores.jsonl").write_text(line)
    assert main(["report", str(tmp_path / "scores.jsonl"), "-o", str(tmp_path / "r.html")]) == 3
    assert said in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_scores_of_other_rows_and_of_two_settings_are_refused(
    rows: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = scored(rows, tmp_path / "scores.jsonl", "extractive")
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "z", "candidate": "Rain."}\n')
    assert main(["report", scores, "-i", str(other), "-o", str(tmp_path / "r.html")]) == 3
    assert "give the rows that were scored" in capsys.readouterr().err
    lines = Path(scores).read_text()
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(lines + lines.replace("punctuation=True", "punctuation=False"))
    assert main(["report", str(mixed), "-o", str(tmp_path / "r.html")]) == 3
    assert "has another signature of extractive" in capsys.readouterr().err


def test_a_report_that_is_there_is_replaced_only_on_demand(
    rows: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = scored(rows, tmp_path / "scores.jsonl", "extractive")
    page = tmp_path / "r.html"
    page.write_text("mine")
    assert main(["report", scores, "-o", str(page)]) == 2
    assert "--overwrite replaces it" in capsys.readouterr().err
    assert page.read_text() == "mine"
    assert main(["report", scores, "-o", str(page), "--overwrite", "--quiet"]) == 0
    assert page.read_text().startswith("<!doctype html>")
    assert main(["report", scores, "-o", scores, "--overwrite"]) == 2, "an input is never replaced"


def test_explain_prints_the_sentences_of_a_pair(capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["--source-text", "Rain fell all day.", "--candidate-text", "Rain fell. Dogs barked."]
    assert main(["score", "extractive", *texts, "--explain"]) == 0
    printed = capsys.readouterr().out
    assert "1.000  Rain fell." in printed
    assert "“Dogs barked”" in printed
    assert "\x1b" not in printed


def test_explain_names_rows_before_the_table(rows: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "extractive", "-i", rows, "--explain"]) == 0
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if line.startswith("row ")] == [
        "row a",
        "row b",
        "row a",
        "row c",
    ]
    assert printed.index("row c") < printed.index("95 % interval")
    assert main(["score", "extractive", "-i", rows, "-o", "-", "--explain"]) == 2
