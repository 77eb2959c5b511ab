"""Test how commands end: one line on standard error, the right exit code, and no lost data."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gistmeter.app.cli import main
from gistmeter.core.errors import GistmeterError
from gistmeter.io.measured import read_measured
from gistmeter.io.scores_output import read_scores
from tests.app.test_cli import ROW, read, write

COMMAND = [sys.executable, "-m", "gistmeter.app.cli"]
JUDGED = {**ROW, "scores": {"fluency": 1}}


def shell(words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        words.replace("gistmeter", " ".join(COMMAND), 1),
        shell=True,
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
        timeout=100,
    )
    out, err = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["score", "rouge", "-i", "ROWS", "--seed", "-1"], 2, "not a whole number"),
        (["score", "rouge", "-i", "ROWS", "--limit", "0"], 2, "not above 0"),
        (["score", "rouge", "-i", "ROWS", "--limit", "1e3"], 2, "not a whole number"),
        (["score", "rouge", "-i", "ROWS", "--limit", "-5"], 2, "not a whole number"),
        (["score", "rouge", "-i", "ROWS", "--resume", "--overwrite", "-o", "OUT"], 2, "not allowed with"),
        (["score", "rouge", "-i", "ROWS", "-\x1b]0;owned\x07"], 2, "unrecognized"),
    ],
)
def test_words_that_make_no_sense(
    arguments: list[str], code: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = write(tmp_path / "rows.jsonl", ROW)
    with pytest.raises(SystemExit) as ended:
        main([{"ROWS": rows, "OUT": str(tmp_path / "out.jsonl")}.get(word, word) for word in arguments])
    printed = capsys.readouterr().err
    assert ended.value.code == code and says in printed and "\x1b" not in printed


def test_a_limit_beyond_all_rows_is_no_limit(tmp_path: Path) -> None:
    rows, out = write(tmp_path / "rows.jsonl", ROW, ROW), tmp_path / "out.jsonl"
    assert main(["score", "rouge", "-i", rows, "-o", str(out), "--limit", "1" + "0" * 30, "--quiet"]) == 0
    assert len(read(out)) == 2


@pytest.mark.parametrize(
    "words",
    [
        "score rouge -i LONG.jsonl",
        "score rouge -i ROWS -o LONG.jsonl",
        "score rouge --candidate LONG --reference-text x",
        "score rouge -i ROWS -o OUT --cache LONG",
        "score rouge -i ROWS -o OUT --cache LONG.sqlite",
        "benchmark rouge --data LONG",
        "benchmark rouge --data ROWS --json LONG.json",
        "benchmark rouge --data ROWS --scores LONG.csv",
        "reproduce summeval --data LONG",
        "reproduce summeval --data ROWS --output LONG",
    ],
)
def test_a_path_of_5000_characters_is_bad_data(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = write(tmp_path / "summeval.jsonl", JUDGED)
    known = {"ROWS": rows, "OUT": str(tmp_path / "out.jsonl")}
    arguments = [known.get(word, word.replace("LONG", "x" * 5000)) for word in words.split()]
    assert main(arguments) == 3
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("gistmeter: ") and "too long" in said[-1]


def test_nothing_of_the_users_is_touched_by_a_command_that_fails(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", JUDGED, JUDGED)
    bad = write(tmp_path / "bad.jsonl", "{no", "{no")
    (tmp_path / "empty.jsonl").touch()
    for name in ("out.jsonl", "out.json", "out.pairs.json"):
        (tmp_path / name).write_text("precious")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    out, figures = str(tmp_path / "out.jsonl"), str(tmp_path / "out.json")
    for words in (
        ["score", "rogue", "-i", rows, "-o", out],
        ["score", "rouge:value=best", "-i", rows, "-o", out],
        ["score", "speed", "-i", rows, "-o", out, "--model", "./nowhere"],
        ["score", "rouge", "-i", str(tmp_path / "empty.jsonl"), "-o", out],
        ["score", "rouge", "-i", rows, "-o", out, "--fields", "candidate=summary"],
        ["benchmark", "rogue", "--data", rows, "--json", figures],
        ["benchmark", "rouge", "--data", bad, "--json", figures],
        ["benchmark", "rouge", "--data", str(tmp_path / "empty.jsonl"), "--json", figures, "--compare"],
    ):
        for flags in ([], ["--overwrite"]):
            assert main([*words, *flags]) in (2, 3, 4), words
            assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before, words


@pytest.mark.parametrize(
    "words",
    [
        "score rouge -i ROWS -o ROWS",
        "score rouge -i ROWS -o LINK",
        "score rouge --candidate ROWS --reference-text x -o ROWS",
        "benchmark rouge --data ROWS --json ROWS",
        "benchmark rouge --data FOLDER --json ROWS",
        "benchmark rouge --data ROWS --json OTHER --scores OTHER",
        "benchmark rouge --data ROWS --json LINK",
    ],
)
def test_an_output_that_is_an_input_is_refused(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = write(tmp_path / "rows.jsonl", JUDGED)
    (tmp_path / "link.jsonl").symlink_to(rows)
    (tmp_path / "other.csv").write_text("id,mine\n1,2\n")
    known = {"ROWS": rows, "LINK": str(tmp_path / "link.jsonl"), "FOLDER": str(tmp_path)}
    known["OTHER"] = str(tmp_path / "other.csv")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for flags in ([], ["--overwrite"]):
        assert main([*(known.get(word, word) for word in words.split()), *flags]) == 2
        assert "is an input and would be replaced" in capsys.readouterr().err
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.slow
def test_closed_and_full_standard_streams(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", ROW)
    done = shell("gistmeter score rouge -i - <&-")
    assert (done.returncode, done.stderr) == (
        3, "gistmeter: standard input is closed; pipe rows into the command, or give a file\n"
    )  # fmt: skip
    done = shell(f"gistmeter score rouge -i {rows} -o {tmp_path}/o.jsonl >&-")
    assert done.returncode == 2 and "standard output is closed" in done.stderr
    assert not (tmp_path / "o.jsonl").exists()
    done = shell(f"gistmeter score rouge -i {rows} 2>&-")
    assert done.returncode == 0 and done.stdout.startswith("id ")
    if Path("/dev/full").is_char_device():
        for output in ("", "-o -"):
            done = shell(f"gistmeter score rouge --quiet -i {rows} {output} > /dev/full")
            assert done.returncode == 1
            assert done.stderr == "gistmeter: cannot write standard output: No space left on device\n"


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_narrow_terminal_shows_what_it_can(encoding: str, tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", {"id": "Ω", "candidate": "x"}, {**ROW, "id": "é"})
    for words, code in ((f"score rouge -i {rows}", 0), ("score --help", 0), ("score rouge -i Ω.jsonl", 3)):
        done = shell(f"gistmeter {words}", PYTHONIOENCODING=encoding)
        assert done.returncode == code, done.stderr
        assert "Error" not in done.stderr
    done = shell(f"gistmeter score rouge -i {rows} -o -", PYTHONIOENCODING=encoding)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["Ω", "é"]


def test_no_label_reaches_the_terminal_with_its_escapes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "x\x1b]0;owned\x07\x1b[31m\u202e"
    folder = tmp_path / f"d{evil}"
    folder.mkdir()
    data = [
        {**ROW, "id": f"{evil}{at}", "system": evil, "doc_id": evil, "scores": {f"q{evil}": at % 3, "p": 1}}
        for at in range(5)
    ]
    rows = write(folder / f"t{evil}.jsonl", *data, "{no")
    (tmp_path / "s.csv").write_text(
        f"id,m{evil}\n" + "".join(f"{row['id']},{at}\n" for at, row in enumerate(data))
    )
    out = str(folder / "out.jsonl")
    for words in (
        ["score", "rouge", f"rouge:value={evil}", "-i", rows],
        ["score", "rouge", "extractive", "-i", rows, "-o", out],
        ["score", "rouge", "-i", rows, "-o", out],
        ["score", "rouge", "-i", f"{folder}/no{evil}.jsonl"],
        ["score", evil, "-i", rows],
        ["score", "rouge", "-i", rows, "--model", evil, "--fields", f"candidate={evil}"],
        ["score", "speed", "-i", rows, "--model", f"./{evil}"],
        [
            "benchmark",
            "rouge",
            "extractive",
            "--data",
            rows,
            "--scores",
            str(tmp_path / "s.csv"),
            "--compare",
        ],
        ["benchmark", "rouge", "--data", rows, "--json", f"{folder}/none{evil}/out.json"],
        ["reproduce", evil, "--data", rows],
        ["reproduce", "summeval", "--data", rows],
    ):
        main(words)
        printed = capsys.readouterr()
        assert printed.out + printed.err
        for character in "\x1b\x07\u202e":
            assert character not in printed.out + printed.err, words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")]
)
def test_a_signal_ends_cleanly_and_resuming_makes_the_same_bytes(
    number: int, code: int, word: str, tmp_path: Path
) -> None:
    rows = [json.dumps({**ROW, "id": str(at)}) for at in range(700)]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows) + "\n")
    out, whole, part = tmp_path / "out.jsonl", tmp_path / "whole.jsonl", tmp_path / "out.jsonl.part"
    process = subprocess.Popen(
        # A shell that runs the tests in the background ignores SIGINT, and its children inherit that.
        ["env", "--default-signal=INT", *COMMAND, "score", "rouge", "-i", "-", "-o", str(out)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write("\n".join(rows[:600]) + "\n")
    process.stdin.flush()
    deadline = time.monotonic() + 150
    log = tmp_path / "out.jsonl.part.log"
    while time.monotonic() < deadline and not (log.exists() and log.read_bytes().count(b"\n") == 2):
        time.sleep(0.05)
    process.send_signal(number)
    _, said = process.communicate(timeout=150)
    assert process.returncode == code, said
    assert f"; 512 rows are in {part}, continue with --resume" in said
    assert said.splitlines()[-1] == f"gistmeter: {word}"
    assert len(read(part)) == 512 and not out.exists()
    arguments = ["score", "rouge", "-i", str(tmp_path / "rows.jsonl"), "--quiet", "-o"]
    assert main([*arguments, str(out), "--resume"]) == main([*arguments, str(whole)]) == 0
    assert out.read_bytes() == whole.read_bytes()


def test_what_a_library_raises_about_a_file_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    from gistmeter.app.ends import ended

    assert ended(PermissionError(13, "Permission denied", "cache.bin")) == 3
    assert ended(OSError(5, "Input/output error")) == 1
    assert ended(RuntimeError("two\nlines")) == 1
    assert ended(GistmeterError("\x1b[2Jcleared")) == 1
    assert capsys.readouterr().err.splitlines() == [
        "gistmeter: cannot use cache.bin: Permission denied",
        "gistmeter: Input/output error (run again with --debug to see where)",
        "gistmeter: RuntimeError: two (run again with --debug to see where)",
        "gistmeter: \ufffd[2Jcleared",
    ]


def test_outputs_of_one_command_are_different_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, out = tmp_path / "rows.jsonl", str(tmp_path / "out.jsonl")
    rows.write_text('{"id": "1", "source": "Rain fell.", "candidate": "Rain fell."}\n')
    words = ["score", "novelty", "-i", str(rows), "--quiet", "-o", out]
    assert main([*words, "--json", out]) == 2
    assert "--json and --junit name one file" in capsys.readouterr().err
    assert not Path(out).exists()
    assert main(words) == 0
    assert main([*words, "--overwrite", "--fail-below-baseline", out]) == 2
    assert "is an input and would be replaced" in capsys.readouterr().err


def test_an_unreadable_row_does_not_stop_a_comparison(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    pair = {"source": "Rain fell.", "candidate": "Rain."}
    good = [json.dumps({**pair, "doc_id": f"d{n}", "system": system}) for n in range(12) for system in "AB"]
    rows.write_text("\n".join([*good, "{broken"]) + "\n")
    assert main(["score", "novelty", "-i", str(rows), "-o", str(out), "--quiet"]) == 3
    assert main(["compare", str(out)]) == 0
    assert "left out 1 rows that could not be read" in caplog.text


def test_csv_reads_back_what_it_wrote(tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", str(tmp_path / "out.csv")
    long = "Rain fell again on Oslo. " * 1800  # its spans are a cell of over 131,072 characters
    rows.write_text(json.dumps({"id": "-1", "system": "A", "source": long, "candidate": long}) + "\n")
    assert main(["score", "names", "-i", str(rows), "-o", out, "--quiet"]) == 0
    assert Path(out).stat().st_size > 131_072
    assert [row.id for row in read_measured([out], by="system")] == ["-1"]
    assert read_scores(out).scores["names"]


def test_labels_with_lone_surrogates_are_written_everywhere(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "x\\ud800", "source": "Rain fell.", "candidate": "Rain fell."}\n')
    for suffix in ("parquet", "csv", "jsonl"):
        out = str(tmp_path / f"out.{suffix}")
        assert main(["score", "novelty", "-i", str(rows), "-o", out, "--quiet"]) == 0
    assert main(["report", str(tmp_path / "out.jsonl"), "-o", str(tmp_path / "r.html")]) == 0
