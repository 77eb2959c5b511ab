"""Test the command line: output, error messages and exit codes."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gistmeter import catalog
from gistmeter.app.cli import main
from gistmeter.core.errors import GistmeterError
from gistmeter.engine import progress

EXAMPLES = Path(__file__).parents[2] / "examples" / "pairs.jsonl"
ROW = {"id": "1", "candidate": "Rain fell.", "source": "Rain fell all day.", "references": ["It rained."]}


def write(path: Path, *rows: object) -> str:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return str(path)


def read(path: Path) -> list[dict[str, object]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_the_examples_are_scored_by_every_metric(
    tiny_bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "scores.jsonl.gz"
    arguments = ["score", "all", "-i", str(EXAMPLES), "-o", str(out), "--model", str(tiny_bert), "--quiet"]
    assert main(arguments) == 0
    rows = read(out)
    ids = list(dict.fromkeys(row["id"] for row in rows))
    assert ids == [row["id"] for row in read(EXAMPLES)], "in input order"
    assert len(rows) % len(ids) == 0
    keys = ["id", "metric", "value", "parts", "spans", "flags", "problem", "signature", "system", "doc_id"]
    assert all(list(row) == keys and row["problem"] is None for row in rows)
    printed = capsys.readouterr()
    assert "speed|version=" in printed.out
    assert printed.err == ""


def test_a_metric_with_two_settings_stands_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = write(tmp_path / "rows.jsonl", ROW)
    assert main(["score", "rouge", "rouge:value=rouge1_recall", "-i", rows, "-o", "-"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["metric"] for line in lines] == ["rouge", "rouge:value=rouge1_recall"]
    assert lines[0]["signature"] != lines[1]["signature"]


def test_a_quality_is_asked_of_the_metrics_that_know_it(
    tiny_copy_infiller: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = write(tmp_path / "rows.jsonl", ROW)
    asked = ["maskeval", "maskeval:dimension=none", "rouge"]
    arguments = ["score", *asked, "-i", rows, "-o", "-", "--model", str(tiny_copy_infiller), "--quiet"]
    assert main([*arguments, "--dimension", "fluency"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert ["|weights=fluency@" in line["signature"] for line in lines] == [True, False, False]


def test_one_pair_from_files_and_from_text_is_one_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.txt").write_text("Rain fell.\n")
    (tmp_path / "s.txt").write_text("Rain fell all day.\n")
    files = ["--candidate", str(tmp_path / "c.txt"), "--source", str(tmp_path / "s.txt")]
    assert main(["score", "extractive", *files]) == 0
    from_files = capsys.readouterr().out
    assert (
        main(["score", "extractive", "--candidate-text", "Rain fell.", "--source-text", "Rain fell all day."])
        == 0
    )
    assert capsys.readouterr().out == from_files
    assert "coverage" in from_files


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["score", "nothing", "-i", "ROWS"], 2, "no metric 'nothing'"),
        (["score", "rouge:value=best", "-i", "ROWS"], 2, "choose one of"),
        (["score", "rouge:colour=red", "-i", "ROWS"], 2, "no option 'colour'"),
        (["score", "rouge:value", "-i", "ROWS"], 2, "name:option=value"),
        (["score", "rouge"], 2, "-i FILE"),
        (["score", "rouge", "-i", "ROWS", "--candidate-text", "x"], 2, "give either rows"),
        (["score", "rouge", "--source-text", "x"], 2, "needs a candidate"),
        (["score", "rouge", "-i", "ROWS", "-o", "ROWS"], 2, "is an input and would be replaced"),
        (["score", "rouge", "-i", "ROWS", "-o", "out.docx"], 2, ".jsonl"),
        (["score", "speed", "-i", "ROWS", "--preset", "huge"], 2, "mini, base, paper"),
        (
            ["score", "rouge", "-i", "ROWS", "--dimension", "fluency"],
            2,
            "only maskeval, sumqe and quality take a dimension",
        ),
        (["score", "bertscore", "-i", "ROWS", "--preset", "huge"], 2, "mini, base, multilingual, paper"),
        (["score", "rouge", "-i", "nowhere.jsonl"], 3, "nowhere.jsonl"),
        (["score", "rouge", "--candidate", "nowhere.txt"], 3, "nowhere.txt"),
        (["score", "rouge", "-i", "ROWS", "-o", "no/such/folder/out.jsonl"], 3, "no/such/folder"),
        (["score", "rouge", "-i", "ROWS", "--fields", "candidate=summary"], 3, "summary"),
        (["score", "speed", "-i", "ROWS", "--model", "./nowhere"], 4, "./nowhere"),
        (["score", "speed", "-i", "ROWS", "--model", "nobody/nothing"], 4, "hf download nobody/nothing"),
        (["score", "maskeval", "-i", "ROWS", "--preset", "multilingual"], 4, "hf download google/mt5-base"),
        (["score", "cloze", "-i", "ROWS", "--preset", "multilingual"], 2, "mini, base, paper"),
        (["benchmark", "rouge", "--data", "ROWS"], 3, "human scores"),
        (["benchmark", "rouge", "--data", "EMPTY"], 3, "no files of rows"),
    ],
)
def test_every_failure_is_one_line_and_its_exit_code(
    arguments: list[str], code: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    rows = write(tmp_path / "rows.jsonl", ROW)
    arguments = [{"ROWS": rows, "EMPTY": str(tmp_path / "empty")}.get(word, word) for word in arguments]
    assert main(arguments) == code
    said = capsys.readouterr()
    assert said.out == ""
    line = said.err.strip().splitlines()[-1]
    assert line.startswith("gistmeter: ")
    assert says in line
    assert "Traceback" not in said.err
    assert json.loads(Path(rows).read_text()) == ROW, "the input is untouched"
    with pytest.raises(GistmeterError):
        main([*arguments, "--debug"])


def test_bad_rows_cost_nothing_but_themselves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = write(
        tmp_path / "rows.jsonl",
        ROW,
        "{not json",
        {"id": 2, "candidate": "", "references": ["x"]},
        {"id": "3", "candidate": "No references here."},
        '{"id": "4", "candidate": "broken \\ud800", "references": ["x"]}',
        {"id": "5", "candidate": "rain " * 12_000, "references": ["rain"]},
    )
    assert main(["score", "rouge", "-i", rows, "-o", str(tmp_path / "out.jsonl")]) == 3
    problems = {row["id"]: row["problem"] for row in read(tmp_path / "out.jsonl")}
    assert problems["1"] is None
    assert "line 2" in str(problems["line 2"])
    assert problems["2"] == "the candidate is empty"
    assert problems["3"] == "the row has no references"
    assert "lone surrogate" in str(problems["4"])
    assert problems["5"] is None
    assert "1 of 6 rows are unreadable" in capsys.readouterr().err


def test_a_metric_without_a_single_value_ends_with_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = write(tmp_path / "rows.jsonl", {"candidate": "Rain fell."})
    assert main(["score", "rouge", "-i", rows]) == 3
    assert (
        "rouge has no value for any row; the first problem: the row has no references"
        in capsys.readouterr().err
    )


def test_limit_and_other_names_of_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = write(tmp_path / "rows.jsonl", *({"summary": f"Text {n}.", "article": "Text."} for n in range(5)))
    fields = ["--fields", "candidate=summary,source=article"]
    assert main(["score", "length_ratio", "-i", rows, "-o", "-", "--limit", "2", *fields]) == 0
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == ["1", "2"]


def test_benchmark_writes_every_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {
            "id": f"{doc}-{system}",
            "doc_id": doc,
            "system": system,
            "candidate": " ".join(["rain"] * (1 + n % 5)),
            "references": ["rain rain rain fell"],
            "scores": {"fluency": n % 3 + 1, "coverage": n % 5},
        }
        for n, (doc, system) in enumerate((f"d{i}", f"s{j}") for i in range(5) for j in range(4))
    ]
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "made.jsonl", *rows)
    write(tmp_path / "data" / "unjudged.jsonl", ROW)
    out = tmp_path / "out.json"
    assert main(["benchmark", "rouge", "--data", str(tmp_path / "data"), "--json", str(out)]) == 0
    figures = json.loads(out.read_text())
    assert {row["level"] for row in figures} == {"pooled", "summary", "system"}
    assert {row["task"] for row in figures} == {"made"}
    wanted = {"part": "rouge1_recall", "dimension": "coverage", "level": "pooled"}
    recall = [row for row in figures if wanted.items() <= row.items()]
    assert recall[0]["n"] == 20
    assert -1 <= recall[0]["low"] <= recall[0]["pearson"] <= recall[0]["high"] <= 1
    printed = capsys.readouterr()
    assert "made, pooled level" in printed.out
    assert "unjudged: skipped" in printed.err


def run(*arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "gistmeter", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_rows_come_through_standard_input() -> None:
    done = run("score", "rouge", "-i", "-", "-o", "-", input=json.dumps(ROW) + "\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["id"] == "1"


def processor_seconds(words: list[str]) -> float:
    """Return the processor time of a Python process."""
    before = os.times()
    subprocess.run([sys.executable, *words], capture_output=True, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


@pytest.mark.slow
def test_the_face_and_the_help_load_nothing_heavy() -> None:
    heavy = "torch|transformers|spacy|pandas|scipy|sacrebleu|pyarrow"
    for code in ("import gistmeter", "from gistmeter.app.cli import parsers; parsers()"):
        check = f"{code}\nimport sys\nprint([m for m in {heavy.split('|')!r} if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]", code
    # Processor time, relative to a library that both load, so that a slow or busy machine does not matter.
    help_text, library = (
        min(processor_seconds(words) for _ in range(3))
        for words in (["-m", "gistmeter", "--help"], ["-c", "import numpy"])
    )
    assert help_text < 4 * library


def test_a_reader_that_goes_away_ends_quietly(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", *[ROW] * 3000)
    command = f"{sys.executable} -m gistmeter score length_ratio -i {rows} -o - | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, env=os.environ)
    assert json.loads(done.stdout)["id"] == "1"
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize("name", catalog.names())
def test_an_option_given_twice_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    spec = f"{name}:value=precision,value=recall"
    assert main(["score", spec, "--candidate-text", "A cat.", "--reference-text", "A cat."]) == 2
    assert capsys.readouterr().err == f"gistmeter: '{spec}': value is given twice; give each option once\n"


def test_a_long_run_shows_its_rows_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ["score", "rouge", "-i", write(tmp_path / "rows.jsonl", ROW, ROW), "-o", "-"]
    assert main(run) == 0
    short = capsys.readouterr()
    assert short.err == "", "a short run shows no bar"
    monkeypatch.setattr(progress, "DELAY", 0)
    assert main(run) == 0
    long = capsys.readouterr()
    assert "row" in long.err
    assert long.out == short.out
    assert main([*run, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("option", ["--dimension", "--fields", "--resume"])
def test_reproduce_takes_only_the_options_that_it_uses(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "k", "--data", str(tmp_path), f"{option}=fluency"])
    assert ended.value.code == 2
    assert f"unrecognized arguments: {option}" in capsys.readouterr().err
