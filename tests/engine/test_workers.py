"""Test scoring with several processes: equal scores in the same order, also when a process fails."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gistmeter.app.cli import main
from gistmeter.core.errors import GistmeterError, UsageError
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ANY, Languages
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature
from gistmeter.engine.local import Size
from gistmeter.engine.workers import AHEAD, Workers, assign
from gistmeter.io.scored import Labelled
from gistmeter.models.run.runtime import Runtime

COMMAND = [sys.executable, "-m", "gistmeter.app.cli"]


@dataclass(frozen=True)
class Lengths:
    """Scores a text with its length; the words of a text may end the process.

    Args:
        device: Of the worker.
        folder: Where the processes leave marks.
        together: Score nothing before this many processes have rows to score.
    """

    device: str
    folder: str
    together: int = 1
    name: str = "lengths"
    needs: tuple[Need, ...] = ()
    languages: Languages = ANY
    signature: Signature = Signature.of("lengths", version=1)  # noqa: RUF009 - frozen

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Return lengths, and the process and the device as parts."""
        Path(self.folder, f"{os.getpid()}.here").touch()
        while len(list(Path(self.folder).glob("*.here"))) < self.together:
            time.sleep(0.01)
        for example in examples:
            died = Path(self.folder, "died")
            if "always" in example.candidate or ("once" in example.candidate and not died.exists()):
                died.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if "raise" in example.candidate:
                raise ValueError("no such word")
        parts = {
            "process": os.getpid(),
            "device": float(self.device[-1]) if self.device[-1:].isdigit() else 0.0,
        }
        return [Score(example.id, float(len(example.candidate)), parts) for example in examples]


@dataclass(frozen=True)
class LengthsPlan:
    """Builds `Lengths`, or fails to."""

    folder: str
    device: str = ""
    fails: str = ""
    together: int = 1
    max_seconds_per_row: float | None = None
    runtime: Runtime = Runtime()  # noqa: RUF009 - frozen

    def on(self, device: str) -> "LengthsPlan":
        """Return the plan on that device."""
        return replace(self, device=device)

    def build(self) -> Labelled:
        """Build one metric."""
        if self.fails == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fails == "raises":
            raise UsageError("no such metric")
        return [("lengths", Lengths(self.device, self.folder, self.together))]


def rows(*texts: str) -> list[Row]:
    return [Row(Example(str(at), text)) for at, text in enumerate(texts)]


def scored(plan: LengthsPlan, given: Iterator[Row] | list[Row], *, workers: int = 2) -> list[Score]:
    with Workers(plan, [f"d{at}" for at in range(workers)]) as pool:  # type: ignore[arg-type]
        found = [one for chunk in pool.score_rows(given, size=Size(rows=3)) for one in chunk]
    return [one.scores[0] for one in found]


def test_rows_come_back_in_order_and_devices_take_turns(tmp_path: Path) -> None:
    found = scored(LengthsPlan(str(tmp_path), together=2), rows(*("x" * at for at in range(1, 60))))
    assert [score.value for score in found] == list(range(1, 60))
    assert [score.id for score in found] == [str(at) for at in range(59)]
    assert len({score.parts["process"] for score in found}) == 2
    assert {score.parts["device"] for score in found} == {0.0, 1.0}
    assert str(os.getpid()) not in {str(score.parts["process"]) for score in found}


def test_input_is_read_only_a_little_ahead(tmp_path: Path) -> None:
    read = 0

    def endless() -> Iterator[Row]:
        nonlocal read
        while True:
            read += 1
            yield Row(Example(str(read), "x"))

    with Workers(LengthsPlan(str(tmp_path)), ["d0", "d1"]) as pool:  # type: ignore[arg-type]
        chunks = pool.score_rows(endless(), size=Size(rows=3))
        for number in range(1, 20):
            next(chunks)
            assert read <= 3 * (number + 2 * AHEAD) + 1


def test_a_worker_that_dies_is_reported_and_its_rows_are_scored_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts = ["a", "b", "c", "d", "once", "f", "g", "h"]
    with caplog.at_level(logging.WARNING, "gistmeter"):
        found = scored(LengthsPlan(str(tmp_path)), rows(*texts))
    assert [score.value for score in found] == [float(len(text)) for text in texts]
    assert "a worker died (SIGKILL, perhaps out of memory); rows 4 to 6 are scored again" in caplog.text


def test_rows_that_kill_two_workers_end_the_run(tmp_path: Path) -> None:
    with pytest.raises(GistmeterError, match=r"two workers died with rows 4 to 6 .*fewer --workers"):
        scored(LengthsPlan(str(tmp_path)), rows("a", "b", "c", "d", "always", "f"))


@pytest.mark.parametrize(
    ("fails", "says"),
    [
        ("dies", "a worker died while it loaded"),
        ("raises", "no such metric"),
        ("", "ValueError: no such word"),
    ],
)
def test_what_a_worker_raises_is_raised_here(fails: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(GistmeterError, match=says):
        scored(LengthsPlan(str(tmp_path), fails=fails), rows("raise"), workers=1)


def test_devices_that_make_no_sense() -> None:
    assert assign("auto", None) == ["auto"]
    assert assign("cuda:0, cuda:1", None) == ["cuda:0", "cuda:1"]
    with pytest.raises(UsageError, match="need as many workers"):
        assign("cuda:0,cuda:1", 1)
    with pytest.raises(UsageError, match="has no name"):
        assign("cuda:0,", 2)


def write(path: Path, count: int) -> list[str]:
    texts = [f"Rain fell on {at} hills and {at * 7 % 11} towns." for at in range(count)]
    lines = [json.dumps({"candidate": text, "source": f"{text} It rained."}) for text in texts]
    lines[count // 2] = "{no"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lines


@pytest.mark.slow
def test_the_command_writes_the_same_bytes_and_keeps_a_cache(tmp_path: Path) -> None:
    write(tmp_path / "rows.jsonl", 1300)
    words = ["score", "extractive", "length_ratio", "-i", str(tmp_path / "rows.jsonl"), "--quiet"]
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    cache = ["--cache", str(tmp_path / "kept.sqlite")]
    assert main([*words, "-o", str(one)]) == 3  # for the row that cannot be read
    assert main([*words, "-o", str(two), "--workers", "2", *cache]) == 3
    assert one.read_bytes() == two.read_bytes()
    kept = [
        path.stat().st_size for path in tmp_path.glob("kept.sqlite*")
    ]  # some may wait in SQLite's journal
    assert sum(kept) > 100_000
    assert main(["score", "speed", "-i", words[4], "--workers", "2", "--model", "./none"]) == 4


def test_shards_make_the_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "rows.jsonl", 25)
    words = ["score", "extractive", "-i", str(tmp_path / "rows.jsonl"), "--quiet", "-o"]
    main([*words, str(tmp_path / "whole.jsonl")])
    parts = [tmp_path / f"{number}.jsonl" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        main([*words, str(part), "--shard", f"{number}/3"])
    assert b"".join(part.read_bytes() for part in parts) == (tmp_path / "whole.jsonl").read_bytes()
    assert [part.read_bytes().count(b"\n") for part in parts] == [8, 8, 9]
    assert main(["score", "rouge", "-i", "-", "--shard", "1/2"]) == 2
    for shard in ("0/2", "3/2", "1", "1/0", "x/y"):
        with pytest.raises(SystemExit, match="2"):
            main([*words, "x.jsonl", "--shard", shard])
    assert "Traceback" not in capsys.readouterr().err


def children(of: int) -> set[int]:
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == of:
            found.add(int(status.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)]
)
def test_a_signal_ends_every_worker_and_the_run_goes_on(number: int, code: int, tmp_path: Path) -> None:
    data, out, whole = tmp_path / "rows.jsonl", tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    write(data, 8_000)
    words = ["score", "extractive", "-i", str(data), "-o"]
    process = subprocess.Popen(
        # A shell that runs the tests in the background ignores SIGINT, and its children inherit that.
        ["env", "--default-signal=INT", *COMMAND, *words, str(out), "--workers", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that Ctrl-C goes to all of its processes and to no others
    )
    part = tmp_path / "out.jsonl.part"
    end = time.monotonic() + 150
    while time.monotonic() < end and not (part.exists() and part.stat().st_size):
        time.sleep(0.02)
    workers = children(process.pid)
    assert len(workers) >= 2
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    _, said = process.communicate(timeout=150)
    assert process.returncode == code
    assert "Traceback" not in said
    while time.monotonic() < end and any(Path(f"/proc/{worker}").exists() for worker in workers):
        time.sleep(0.05)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    assert not out.exists()
    main([*words, str(out), "--workers", "2", "--resume", "--quiet"])
    main([*words, str(whole), "--quiet"])
    assert out.read_bytes() == whole.read_bytes()
