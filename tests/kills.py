"""Kill real runs at random moments, resume them, and compare with runs that nobody killed.

    python -m tests.kills --kills 50 --seed 0

For each command it prints how often it was killed while it worked, and how many files were unreadable, rows
lost or doubled, or bytes different after resuming: all of these must be 0. Needs no model.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

COMMAND = [sys.executable, "-m", "gistmeter.app.cli"]


@dataclass(frozen=True)
class Case:
    """A command to kill.

    Args:
        name: For the table.
        words: Of the command; the data and the folder for outputs are filled in.
        resume: What to add to go on.
        outputs: Names of the files it makes, in the folder.
    """

    name: str
    words: tuple[str, ...]
    resume: tuple[str, ...]
    outputs: tuple[str, ...]


JSONL, PACKED, FIGURES = "{folder}/out.jsonl", "{folder}/out.csv.gz", "{folder}/out.json"
RESUME = ("--resume",)
SUITE = (
    *("reproduce", "summeval", "rouge", "chrf", "--data", "{data}"),
    *("-o", "{folder}", "--cache", "{folder}/kept"),
)
CASES = (
    Case("score", ("score", "rouge", "chrf", "-i", "{data}", "-o", JSONL), RESUME, ("out.jsonl",)),
    Case("score .csv.gz", ("score", "rouge", "-i", "{data}", "-o", PACKED), RESUME, ("out.csv.gz",)),
    Case("benchmark", ("benchmark", "chrf", "--data", "{data}", "--json", FIGURES), RESUME, ("out.json",)),
    Case("suite", SUITE, (), ("summeval.json", "summeval.md")),
)


def make_rows(path: Path, count: int) -> None:
    """Write rows of invented words with human scores."""
    draw = random.Random(7)
    words = [f"{a}{b}" for a in ("ra", "lo", "mi", "ten", "sur") for b in ("ver", "don", "na", "pel", "t")]
    with path.open("w", encoding="utf-8") as file:
        for at in range(count):
            texts = [" ".join(draw.choices(words, k=60)) + "." for _ in range(3)]
            row = {"id": str(at), "doc_id": f"d{at // 8}", "system": f"s{at % 8}", "candidate": texts[0]}
            human = {name: draw.random() for name in ("consistency", "coherence", "fluency", "relevance")}
            file.write(
                json.dumps(row | {"source": texts[1], "references": texts[2:], "scores": human}) + "\n"
            )


def run(
    case: Case, data: Path, folder: Path, extra: Sequence[str] = (), *, kill_after: float = 0
) -> int | None:
    """Run a command; return its exit code, or None if it was killed."""
    words = [word.format(data=data, folder=folder) for word in case.words]
    process = subprocess.Popen([*COMMAND, *words, *extra, "--quiet"], stdout=subprocess.DEVNULL)
    try:
        return process.wait(timeout=kill_after or None)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return None


def kill_case(case: Case, data: Path, kills: int, draw: random.Random) -> dict[str, int]:
    """Kill a command that many times, resume each time, and count what went wrong."""
    counts = {
        "kills": 0,
        "with progress": 0,
        "resumed kills": 0,
        "failed": 0,
        "other bytes": 0,
        "left behind": 0,
    }
    with tempfile.TemporaryDirectory() as name:
        whole = Path(name, "whole")
        whole.mkdir()
        start = time.perf_counter()
        assert run(case, data, whole) == 0
        seconds = time.perf_counter() - start
        wanted = {output: (whole / output).read_bytes() for output in case.outputs}
        at = 0
        while counts["kills"] < kills:
            at += 1
            folder = Path(name, f"run-{at}")
            folder.mkdir()
            _kill_and_resume(case, data, folder, (seconds, draw), counts)
            found = {output: (folder / output).read_bytes() for output in case.outputs}
            counts["other bytes"] += found != wanted
            left = [
                file for file in os.listdir(folder) if ".part" in file or ".new" in file or ".lock" in file
            ]
            counts["left behind"] += bool(left)
    return counts


def _kill_and_resume(
    case: Case, data: Path, folder: Path, when: tuple[float, random.Random], counts: dict[str, int]
) -> None:
    """Kill until a run ends by itself; an output that is there before then must be whole already."""
    seconds, draw = when
    extra: Sequence[str] = ()
    for _ in range(2):
        code = run(case, data, folder, extra, kill_after=draw.uniform(0.1, 1.0) * seconds)
        if code is not None:
            counts["failed"] += code != 0
            return
        counts["kills"] += 1
        counts["resumed kills"] += bool(extra)
        counts["with progress"] += bool(os.listdir(folder))
        extra = case.resume
    counts["failed"] += run(case, data, folder, extra) != 0


def main() -> int:
    """Kill, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="of each command")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="commands whose name holds this")
    arguments = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        data = Path(name, "summeval.jsonl")
        make_rows(data, arguments.rows)
        for case in (case for case in CASES if arguments.only in case.name):
            counts = kill_case(case, data, arguments.kills, random.Random(arguments.seed))
            bad += counts["failed"] + counts["other bytes"] + counts["left behind"]
            said = ", ".join(f"{what} {number}" for what, number in counts.items())
            sys.stdout.write(f"{case.name}: {said}\n")
            sys.stdout.flush()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
