"""The command `gistmeter check`: the answer for one pair, rows, exit codes."""

import json
from pathlib import Path

import pytest

from gistmeter import load
from gistmeter.app.cli import main
from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score, Span
from gistmeter.report.check import check_text, checked_sentences

DEMO = Path(__file__).parents[2] / "examples" / "check"
SOURCE, TEXT = "A ferry turned back in the storm.", "A ferry turned back. Nobody drowned."
PAIR = ["--source-text", SOURCE, "--candidate-text", TEXT, "--quiet"]


def test_the_answer_names_each_sentence_and_the_evidence_of_the_wrong_ones() -> None:
    spans = (
        Span("candidate", 0, 20, 0.93, 1.0, f"source: {SOURCE}"),
        Span("candidate", 21, 36, 0.08, 1.0, f"source: {SOURCE}"),
    )
    score = Score("1", 0.07, {"wrong": 0.83}, spans, (Flag("truncated"),))
    text = check_text(score, Example("1", TEXT, SOURCE))
    assert text.splitlines() == [
        "1 of 2 sentences has no support in the source.",
        "",
        "  ✓ 0.93 A ferry turned back.",
        "  ✗ 0.08 Nobody drowned.",
        "         closest in the source: A ferry turned back in the storm.",
        "",
        "check 0.07: people called about 83 % of texts with such sentences wrong",
        "note: truncated",
    ]


def test_a_sentence_between_the_levels_is_uncertain() -> None:
    spans = (
        Span("candidate", 0, 20, 0.93, 1.0, f"source: {SOURCE}"),
        Span("candidate", 21, 36, 0.6, 1.0, f"source: {SOURCE}"),
    )
    text = check_text(Score("1", 0.7, {"wrong": 0.5}, spans), Example("1", TEXT, SOURCE))
    assert text.startswith("No sentence is clearly unsupported; 1 of 2 may be wrong (?).")
    assert "  ✓ 0.93" in text and "  ? 0.60 Nobody drowned.\n         closest in the source: A ferry" in text


def test_a_pair_is_checked_and_gated(tiny_check: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *PAIR, "--model", str(tiny_check)]) == 0
    printed = capsys.readouterr().out
    assert "A ferry turned back." in printed and "Nobody drowned." in printed and "check 0." in printed
    assert main(["check", *PAIR, "--model", str(tiny_check), "--fail-under", ".999"]) == 5
    assert "gate failed: check >= 0.999: mean 0." in capsys.readouterr().out
    assert main(["check", *PAIR, "--model", str(tiny_check), "--fail-under", ".001"]) == 0
    assert "gate passed: check >= 0.001: mean 0." in capsys.readouterr().out


def test_rows_get_the_lines_of_score(tiny_check: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "a", "source": SOURCE, "candidate": TEXT}) + "\n")
    ours, theirs = tmp_path / "check.jsonl", tmp_path / "score.jsonl"
    model = ["--model", str(tiny_check), "-i", str(rows), "--quiet"]
    assert main(["check", *model, "-o", str(ours), "--fail-under", ".999"]) == 5
    assert main(["score", "check", *model, "-o", str(theirs)]) == 0
    assert ours.read_bytes() == theirs.read_bytes()
    assert json.loads(ours.read_text())["metric"] == "check"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "give one pair with --source FILE --candidate FILE, or rows with -i FILE"),
        ([*PAIR, "-o", "x.jsonl"], "-o is for rows"),
    ],
)
def test_half_a_question_is_refused(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *words]) == 2
    assert says in capsys.readouterr().err


def test_without_a_source_there_is_no_answer(tiny_check: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--candidate-text", TEXT, "--model", str(tiny_check), "--quiet"]) == 3
    assert "No answer: the row has no source" in capsys.readouterr().out


@pytest.mark.slow
def test_the_texts_of_the_demo_show_what_has_no_support() -> None:
    texts = {name: (DEMO / f"{name}.txt").read_text("utf-8") for name in ("article", "copy", "careless")}
    pairs = [Example(name, texts[name], texts["article"]) for name in ("copy", "careless")]
    copy, careless = (checked_sentences(score) for score in load("check").score(pairs))
    assert not any(sentence.unsupported for sentence in copy)
    wrong = [texts["careless"][each.start : each.end] for each in careless if each.unsupported]
    assert wrong == ["The mayor has resigned and moved to Spain."]
