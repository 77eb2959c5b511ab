"""Test atomic writes: after any failure, a file has either its old or its new content."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gistmeter.core.errors import DataError, GistmeterError, UsageError
from gistmeter.io import files
from gistmeter.io.files import check_output, locked, write_whole
from tests.faults import fail_at


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, data = tmp_path / "out.json", b"[1, 2, 3]\n"
    for at in range(len(data)):
        path.write_bytes(b"old")
        with monkeypatch.context() as patch:
            fail_at(patch, at)
            with pytest.raises(GistmeterError, match=r"cannot write .*No space left"):
                write_whole(path, data)
        assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["out.json"])
    write_whole(path, data)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (data, ["out.json"])


def test_a_link_and_the_permissions_of_its_target_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_as_it_comes(tmp_path: Path) -> None:
    path = tmp_path / "pipe.json"
    os.mkfifo(path)
    reader = subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE)
    write_whole(path, b"rows")
    assert reader.communicate(timeout=100)[0] == b"rows"
    assert files.is_stream(path) and not (tmp_path / "pipe.json.new").exists()


def test_an_output_is_checked_without_touching_it(tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("old")
    link = tmp_path / "link.jsonl"
    link.symlink_to(there)
    check_output(there, inputs=["-", None, tmp_path / "other"])
    for given in (there, link, tmp_path / "." / "there.jsonl"):
        with pytest.raises(UsageError, match="is an input and would be replaced"):
            check_output(link, inputs=[given])
    with pytest.raises(DataError, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(DataError, match=r"there is no folder .*none; create it first"):
        check_output(tmp_path / "none" / "out.json")
    for name in ("x" * 5000, str(there / "out.json"), "nul\0byte"):
        with pytest.raises(DataError, match="cannot write"):
            check_output(name)
    assert there.read_text() == "old" and sorted(os.listdir(tmp_path)) == ["link.jsonl", "there.jsonl"]


def test_the_second_writer_is_refused_and_the_lock_ends_with_the_process(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    hold = f"from gistmeter.io.files import *\nwith locked({str(path)!r}): print('in', flush=True); input()"
    first = subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert first.stdout is not None and first.stdout.readline() == b"in\n"
    with pytest.raises(UsageError, match="another run is writing"), locked(path):
        pass
    first.kill()
    first.communicate(timeout=100)
    with locked(path):
        assert os.listdir(tmp_path) == ["out.jsonl.lock"]
    assert os.listdir(tmp_path) == []


def test_a_short_write_is_gone_on_with() -> None:
    class Slow(io.RawIOBase):
        taken = b""

        def write(self, data: object) -> int:
            self.taken += bytes(data)[:3]  # type: ignore[call-overload]
            return min(3, len(data))  # type: ignore[arg-type]

    slow = Slow()
    files.write_all(slow, b"ten bytes!")
    assert slow.taken == b"ten bytes!"
