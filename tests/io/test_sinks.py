"""Test output files: written atomically, resumed after an interruption, never replaced by accident."""

import contextlib
import csv
import gzip
import io
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gistmeter.core.errors import DataError, GistmeterError, MissingExtra, UsageError
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ANY, Languages
from gistmeter.core.row import Row
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.engine.local import Size, score_rows
from gistmeter.io.journal import Journal
from gistmeter.io.scored import Scored
from gistmeter.io.sinks import Writing, open_sink
from tests.faults import fail_at

FORMATS = ["out.jsonl", "out.jsonl.gz", "out.csv", "out.csv.gz", "out.parquet"]
TEXTS = ["Rain fell.", "=1+1", "Café\u2028 \ud83d\ude00", "none", 'a "quote",\nand a line', "last one"]
ROWS = [Row(Example(f"{at}", text, system="lead", doc_id="-d")) for at, text in enumerate(TEXTS)]
ROWS.insert(2, Row(Example("line 3", ""), problem="line 3: not JSON"))


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: there are thousands of runs, and no power fails."""
    monkeypatch.setattr(os, "fsync", lambda number: None)


@dataclass
class Counting:
    """A metric that counts what it scores."""

    version: int = 1
    seen: int = 0
    name = "counting"
    needs: tuple[Need, ...] = ()
    languages: Languages = ANY

    @property
    def signature(self) -> Signature:
        return Signature.of(self.name, version=self.version)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        self.seen += len(examples)
        return [self._score(example) for example in examples]

    def _score(self, example: Example) -> Score:
        if example.candidate == "none":
            return Score.undefined(example.id, "none", (Flag("empty_side", "reference", index=1),))
        size = len(example.candidate)
        spans = tuple(Span("candidate", at, at + 1, -at / 7, note="@x") for at in range(size))
        return Score(
            example.id,
            size / 7,
            {"half": size / 2, "no": math.nan},
            spans,
            (Flag("truncated", "source", 1, 9),),
        )


def run(
    path: Path | str,
    *,
    rows: Sequence[Row] = ROWS,
    metric: Counting | None = None,
    stop: int = 99,
    **writing: Any,  # noqa: ANN401
) -> list[Scored]:
    """Write rows in chunks of two; stop after some chunks as Ctrl-C does."""
    kept: list[Scored] = []
    with open_sink(str(path), Writing(**writing)) as sink:
        metric = metric or Counting()
        remaining: Iterator[Row] = iter(rows)
        sink.begin([("counting", metric), ("again", metric)])
        for chunk in sink.done(remaining):
            kept += chunk
        for number, chunk in enumerate(score_rows([metric, metric], remaining, size=Size(rows=2))):
            if number == stop:
                raise KeyboardInterrupt
            sink.write(chunk)
            kept += chunk
        sink.finish()
    return kept


@pytest.mark.parametrize("name", FORMATS)
def test_a_stopped_run_goes_on_and_ends_in_the_same_bytes(tmp_path: Path, name: str) -> None:
    whole = tmp_path / f"whole-{name}"
    scored = run(whole)
    for stop in range(5):
        path = tmp_path / name
        if stop < 4:
            with pytest.raises(KeyboardInterrupt):
                run(path, stop=stop)
            assert not path.exists()
        metric = Counting()
        again = run(path, metric=metric, resume=True)
        assert metric.seen == 2 * sum(row.problem is None for row in ROWS[2 * min(stop, 4) :])
        assert path.read_bytes() == whole.read_bytes()
        assert [
            (one.row, [(s.id, repr(s.value), s.flags, s.problem) for s in one.scores]) for one in again
        ] == [(one.row, [(s.id, repr(s.value), s.flags, s.problem) for s in one.scores]) for one in scored]
        assert sorted(os.listdir(tmp_path)) == sorted([whole.name, name])
        if stop < 3:
            path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_a_full_disk_at_every_byte_loses_nothing(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, path = tmp_path / f"whole-{name}", tmp_path / name
    rows = ROWS[:3]
    run(whole, rows=rows, spans=0)
    step, at, failed = {"out.jsonl": 1, "out.parquet": 97}.get(name, 17), 0, 0
    while not path.exists():
        with monkeypatch.context() as patch:
            fail_at(patch, at)
            with contextlib.suppress(GistmeterError):
                run(path, rows=rows, spans=0)
        if not path.exists():
            failed += 1
            run(path, rows=rows, spans=0, resume=True)
            assert path.read_bytes() == whole.read_bytes()
            assert sorted(os.listdir(tmp_path)) == sorted([whole.name, name])
            path.unlink()
            at += step
    assert failed > 10


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.csv"])
def test_a_tail_of_any_length_is_dropped(tmp_path: Path, name: str) -> None:
    path, part, log = tmp_path / name, tmp_path / f"{name}.part", tmp_path / f"{name}.part.log"
    run(path)
    whole = path.read_bytes()
    path.unlink()
    with pytest.raises(KeyboardInterrupt):
        run(path, stop=2)
    left = {file: file.read_bytes() for file in (part, log)}
    for file, bytes_left in left.items():
        # What the log says first is written at once, before any row.
        for size in range(bytes_left.index(b"\n") + 1 if file == log else 1, len(bytes_left), 97):
            for other, data in left.items():
                other.write_bytes(data)
            file.write_bytes(bytes_left[:size])
            run(path, resume=True)
            assert path.read_bytes() == whole
            path.unlink()
    part.write_bytes(left[part] + b'{"id": "ha')
    log.write_bytes(left[log] + b'{"rows": 2, "dig')
    run(path, resume=True)
    assert path.read_bytes() == whole


def test_a_flipped_byte_in_the_journal_costs_its_chunk(tmp_path: Path) -> None:
    path, part = tmp_path / "out.jsonl", tmp_path / "out.jsonl.part"
    with pytest.raises(KeyboardInterrupt):
        run(path, stop=2)
    data = bytearray(part.read_bytes())
    data[len(data) - 30] ^= 1
    part.write_bytes(data)
    metric = Counting()
    run(path, metric=metric, resume=True)
    assert metric.seen == 2 * sum(row.problem is None for row in ROWS[2:])
    run(tmp_path / "whole.jsonl")
    assert path.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_resuming_asks_for_the_same_run(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run(path, stop=2)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    other = [ROWS[0], Row(Example("1", "Another text.")), *ROWS[2:]]
    for refused, says, asked in (
        (UsageError, "belongs to another run: metrics .*version=1", {"metric": Counting(version=2)}),
        (UsageError, "belongs to another run: spans null, now 3", {"spans": 3}),
        (DataError, "rows 1 to 2 differ from the rows in", {"rows": other}),
        (DataError, "rows 3 to 4 differ from the rows in", {"rows": ROWS[:3]}),
    ):
        with pytest.raises(refused, match=says):
            run(path, resume=True, **asked)
        assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before
    with pytest.raises(UsageError, match=r"has 4 rows of an interrupted run; .* --resume, .* --overwrite"):
        run(path)
    run(path, overwrite=True, metric=Counting(version=2))
    assert b"version=2" in path.read_bytes()
    assert os.listdir(tmp_path) == ["out.jsonl"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_whole_file_is_kept_unless_told_otherwise(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    run(path)
    data = path.read_bytes()
    with pytest.raises(UsageError, match="already exists; replace it with --overwrite"):
        run(path)
    for asked in ({"rows": ROWS[:-1]}, {"rows": [*ROWS, ROWS[0]]}, {"metric": Counting(version=2)}):
        with pytest.raises(UsageError, match="is complete, but has other rows or metrics"):
            run(path, resume=True, **asked)
    assert path.read_bytes() == data
    with pytest.raises(KeyboardInterrupt):
        run(path, overwrite=True, stop=1)
    assert path.read_bytes() == data, "the old file stays until the new one is whole"
    run(path, overwrite=True, rows=ROWS[:1])
    assert path.read_bytes() != data and os.listdir(tmp_path) == [name]


def test_a_file_that_is_not_of_a_run_is_left_alone(tmp_path: Path) -> None:
    path, part = tmp_path / "out.jsonl", tmp_path / "out.jsonl.part"
    for log in (None, b"mine", b'{"a": 1}\n'):
        part.write_text("mine")
        if log is not None:
            (tmp_path / "out.jsonl.part.log").write_bytes(log)
        for flag in ("resume", "overwrite", "spans"):
            with pytest.raises(UsageError, match="was not written by gistmeter"):
                run(path, **dict[str, Any]({flag: True}))
        assert part.read_text() == "mine"


def test_an_empty_file_is_replaced_and_a_run_without_rows_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.touch()
    with pytest.raises(KeyboardInterrupt):
        run(path, stop=0)
    assert os.listdir(tmp_path) == ["out.jsonl"] and path.read_bytes() == b""
    run(path)
    assert len(path.read_bytes().splitlines()) == 2 * len(ROWS)


def test_two_writers_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_sink(str(path), Writing()), pytest.raises(UsageError, match="another run is writing"):
        run(path)
    run(path)


def test_what_cannot_be_written_is_known_on_entering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tmp_path / "rows.jsonl"
    given.touch()
    for path, error, says, writing in (
        (tmp_path / "out.docx", UsageError, r"must end in one of \.jsonl, ", {}),
        (tmp_path, DataError, "unknown format|is a folder", {}),
        (tmp_path / "none/out.jsonl", DataError, "there is no folder", {}),
        (given, UsageError, "is an input and would be replaced", {"inputs": [None, "-", str(given)]}),
        ("-", UsageError, "--resume needs a file", {"resume": True}),
    ):
        with pytest.raises(error if path != tmp_path else GistmeterError, match=says):
            run(path, **writing)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="parquet"):
        run(tmp_path / "out.parquet")
    assert os.listdir(tmp_path) == ["rows.jsonl"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_known_on_entering(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="cannot write"):
        run(tmp_path / "out.jsonl")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs a device that is always full")
def test_a_device_that_is_full_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.symlink_to("/dev/full")
    with pytest.raises(GistmeterError, match=r"cannot write .*No space left"):
        run(path)
    assert path.is_symlink()


@pytest.mark.parametrize("name", ["pipe.jsonl", "pipe.csv.gz", "pipe"])
def test_a_pipe_gets_every_chunk_at_once(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    reader = subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE)
    run(path)
    data = reader.communicate(timeout=100)[0]
    run(tmp_path / "whole.jsonl")
    if "csv" not in name:
        assert data == (tmp_path / "whole.jsonl").read_bytes()
    else:
        assert len(list(csv.reader(io.StringIO(gzip.decompress(data).decode())))) == 1 + 2 * len(ROWS)
    assert sorted(os.listdir(tmp_path)) == sorted([name, "whole.jsonl"])


def test_a_broken_pipe_is_left_to_the_caller(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open_sink(str(path), Writing()) as sink:
        sink.begin([("counting", Counting())])
        os.close(reader)
        with pytest.raises(BrokenPipeError):
            sink.write(next(iter(score_rows([Counting()], ROWS))))


def test_standard_output_that_is_ascii_or_text_only(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", narrow)
        run("-", rows=[Row(Example("Café", "x"))])
    with contextlib.redirect_stdout(io.StringIO()) as text:
        run("-", rows=[Row(Example("Café", "x"))])
    assert narrow.buffer.getvalue() == text.getvalue().encode()
    assert "Café" in text.getvalue()


def test_csv_and_parquet_hold_what_jsonl_holds(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    for name in FORMATS:
        run(tmp_path / name, spans=2)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    with gzip.open(tmp_path / "out.csv.gz", "rt", newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    nested = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert len(rows) == len(cells) == len(nested) == 2 * len(ROWS)
    for row, line, record in zip(rows, cells, nested, strict=True):
        assert list(row) == list(line) == list(record)
        assert [json.loads(line[name]) for name in ("parts", "spans", "flags")] == [
            row[name] for name in ("parts", "spans", "flags")
        ]
        assert line["value"] == ("" if row["value"] is None else repr(row["value"]))
        assert dict(record["parts"]) == row["parts"] and len(record["spans"]) == len(row["spans"]) <= 2
        for name in ("id", "metric", "value", "problem", "signature", "system", "doc_id"):
            assert record[name] == row[name]
            safe = f"'{row[name]}" if str(row[name]).startswith("-") and name != "value" else row[name]
            assert line[name] == ("" if safe is None else str(safe))


def test_chunks_are_cut_by_rows_by_characters_and_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def sizes(rows: Sequence[Row], size: Size) -> list[int]:
        return [len(chunk) for chunk in score_rows([Counting()], rows, size=size)]

    long = [Row(Example(str(at), "x" * (100 if at % 3 else 10))) for at in range(9)]
    assert sizes(long, Size(rows=4)) == [4, 4, 1]
    assert sizes(long, Size(characters=115)) == [2, 2, 1, 2, 1, 1]
    assert sizes(long, Size(characters=5)) == [1] * 9
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr("gistmeter.engine.local.time.monotonic", lambda: next(clock))
    assert sizes(long, Size(rows=4, seconds=5)) == [4, 2, 1, 1, 1]


def test_an_overwriting_run_that_stopped_before_its_first_chunk_is_not_complete(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    run(path)
    old = path.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        run(path, overwrite=True, stop=0)
    assert path.read_bytes() == old
    new = [Row(replace(row.example, candidate="new"), problem=row.problem) for row in ROWS]
    metric = Counting()
    run(path, resume=True, rows=new, metric=metric)
    assert metric.seen > 0 and path.read_bytes() != old and os.listdir(tmp_path) == ["out.jsonl"]


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.parquet"])
def test_the_journal_is_deleted_when_it_is_closed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journals: list[Journal] = []
    closed: list[bool] = []
    opened, unlink = Journal.begin, Path.unlink

    def begin(self: Journal, head: Mapping[str, object]) -> None:
        journals.append(self)
        opened(self, head)

    def spy(self: Path, *, missing_ok: bool = False) -> None:
        if ".part" in self.name:
            closed.extend(file.closed for file in journals[0]._open)
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(Journal, "begin", begin)
    monkeypatch.setattr(Path, "unlink", lambda self, missing_ok=False: spy(self, missing_ok=missing_ok))
    run(tmp_path / name)
    assert closed and all(closed)
