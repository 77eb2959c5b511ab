"""Output rows: strict JSON, on disk at once, whatever the text and however the run ends."""

import contextlib
import gzip
import io
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gistmeter.batch.output import RowWriter, score_row
from gistmeter.batch.rows import read_rows
from gistmeter.core.errors import DataError, GistmeterError, UsageError
from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature

SIGNATURE = Signature.of("speed", version=1, match="greedy")
EXAMPLE = Example("7", "A cat sat.", system="lead", doc_id="d1")


def strict(line: str | bytes) -> object:
    """Parse JSON as the standard has it: no NaN, no Infinity."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(line, parse_constant=refuse)


def test_a_row_has_exactly_the_documented_keys() -> None:
    score = Score(
        "7",
        0.5,
        {"recall": 0.25, "precision": math.nan},
        (Span("candidate", 0, 5, 0.5, note="x"), Span("reference", 2, 4, math.nan, 2.0, index=3)),
        (
            Flag("truncated", "source", kept=510, total=1322),
            Flag("degenerate"),
            Flag("empty_side", "reference", index=0),
        ),
    )
    row = score_row("speed:match=greedy", score, SIGNATURE, EXAMPLE)
    assert list(row.items()) == [
        ("id", "7"),
        ("metric", "speed:match=greedy"),
        ("value", 0.5),
        ("parts", {"recall": 0.25, "precision": None}),
        (
            "spans",
            [
                {"side": "candidate", "start": 0, "end": 5, "value": 0.5, "weight": 1.0, "note": "x"},
                {
                    "side": "reference",
                    "start": 2,
                    "end": 4,
                    "value": None,
                    "weight": 2.0,
                    "note": "",
                    "index": 3,
                },
            ],
        ),
        (
            "flags",
            [
                {"name": "truncated", "side": "source", "kept": 510, "total": 1322},
                {"name": "degenerate"},
                {"name": "empty_side", "side": "reference", "index": 0},
            ],
        ),
        ("problem", None),
        ("signature", "speed|version=1|match=greedy"),
        ("system", "lead"),
        ("doc_id", "d1"),
    ]


def test_an_undefined_score_keeps_its_reason() -> None:
    row = score_row("speed", Score.undefined("7", "the row has no source"), SIGNATURE, EXAMPLE)
    assert (row["value"], row["problem"]) == (None, "the row has no source")


def test_numbers_of_numpy_and_infinities_become_json() -> None:
    score = Score(
        "7",
        np.float32(0.5),  # type: ignore[arg-type]
        {"perplexity": math.inf, "mean": np.float64(0.25)},
        (Span("candidate", np.int64(0), np.int64(5), -math.inf, np.float32(1)),),  # type: ignore[arg-type]
        (Flag("truncated", "source", kept=np.int64(3), total=np.int64(4)),),  # type: ignore[arg-type]
    )
    row = score_row("speed", score, SIGNATURE, EXAMPLE)
    assert strict(json.dumps(row, allow_nan=False)) == row
    assert row["parts"] == {"perplexity": None, "mean": 0.25}


any_row = st.dictionaries(
    st.text(max_size=5),
    st.text(max_size=20) | st.floats(allow_nan=False, allow_infinity=False) | st.none() | st.integers(),
    max_size=4,
)


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "OUT.JSONL.GZ"])
@settings(max_examples=40, deadline=None)
@given(chunks=st.lists(st.lists(any_row, max_size=3), max_size=3))
def test_rows_come_back_with_any_text(name: str, chunks: list[list[dict[str, object]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        with RowWriter(path) as writer:
            for chunk in chunks:
                writer.write(chunk)
                data = path.read_bytes()
                text = gzip.decompress(data) if name.lower().endswith(".gz") else data
                last = text.splitlines()[-len(chunk) :] if chunk else []
                assert [strict(line) for line in last] == chunk  # on disk before the file is closed
        data = path.read_bytes()
        text = gzip.decompress(data) if name.lower().endswith(".gz") else data
        assert [strict(line) for line in text.splitlines()] == [row for chunk in chunks for row in chunk]


def test_a_lone_surrogate_is_escaped_and_other_text_is_not(tmp_path: Path) -> None:
    with RowWriter(tmp_path / "out.jsonl") as writer:
        writer.write([{"id": "Café"}, {"id": "é\ud800"}])
    assert (tmp_path / "out.jsonl").read_bytes() == '{"id": "Café"}\n{"id": "\\u00e9\\ud800"}\n'.encode()


def test_nan_is_refused(tmp_path: Path) -> None:
    with RowWriter(tmp_path / "out.jsonl") as writer, pytest.raises(ValueError, match="not JSON compliant"):
        writer.write([{"value": math.nan}])
    assert (tmp_path / "out.jsonl").read_bytes() == b""


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_a_killed_run_keeps_every_row(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    program = (
        "import os, sys; from gistmeter.batch.output import RowWriter\n"
        "writer = RowWriter(sys.argv[1]).__enter__()\n"
        "for n in range(5): writer.write([{'id': str(n)}] * 10)\n"
        "os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", program, path], check=False).returncode == 9
    data = path.read_bytes()
    lines = (gzip.decompress(data) if name.endswith(".gz") else data).splitlines()
    assert [strict(line) for line in lines] == [{"id": str(n // 10)} for n in range(50)]


def test_an_exception_keeps_every_row(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl.gz"
    with pytest.raises(KeyboardInterrupt), RowWriter(path) as writer:
        writer.write([{"id": "1"}])
        raise KeyboardInterrupt
    assert gzip.decompress(path.read_bytes()) == b'{"id": "1"}\n'


def test_a_run_without_rows_leaves_a_file_that_reads(tmp_path: Path) -> None:
    with RowWriter(tmp_path / "out.jsonl.gz"):
        pass
    assert list(read_rows(tmp_path / "out.jsonl.gz")) == []


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("old\n" * 100)
    with RowWriter(path) as writer:
        writer.write([{"id": "1"}])
    assert path.read_text() == '{"id": "1"}\n'


def test_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    with RowWriter("-") as writer:
        writer.write([{"id": "Café"}])
        assert capfd.readouterr().out == '{"id": "Café"}\n'
        writer.write([{"id": "2"}])
    assert capfd.readouterr().out == '{"id": "2"}\n'
    assert not sys.stdout.closed


def test_standard_output_that_is_ascii_or_text_only(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", narrow)
        with RowWriter("-") as writer:
            writer.write([{"id": "Café"}])
    assert narrow.buffer.getvalue() == '{"id": "Café"}\n'.encode()
    with contextlib.redirect_stdout(io.StringIO()) as text, RowWriter("-") as writer:
        writer.write([{"id": "Café"}])
    assert text.getvalue() == '{"id": "Café"}\n'


def test_what_cannot_be_written_is_known_on_entering(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="is a folder"), RowWriter(tmp_path):
        pass
    with (
        pytest.raises(DataError, match=r"make the folder .*none first"),
        RowWriter(tmp_path / "none/out.jsonl"),
    ):
        pass
    with pytest.raises(DataError, match="cannot write"), RowWriter(tmp_path / "file" / "out.jsonl"):
        pass
    with (
        pytest.raises(UsageError, match=r"must end in \.jsonl or \.jsonl\.gz"),
        RowWriter(tmp_path / "out.csv"),
    ):
        pass
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_known_on_entering(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="cannot write"), RowWriter(tmp_path / "out.jsonl"):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.symlink_to("/dev/full")
    with (
        RowWriter(path) as writer,
        pytest.raises(GistmeterError, match=r"cannot go on writing .*No space left"),
    ):
        writer.write([{"id": "1"}])


def test_a_broken_pipe_is_left_to_the_caller(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with RowWriter(path) as writer:
        os.close(reader)
        with pytest.raises(BrokenPipeError):
            writer.write([{"id": "1"}])


def test_writing_needs_a_with_block(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="with block"):
        RowWriter(tmp_path / "out.jsonl").write([])
