"""Rows per second and peak memory of `gistmeter score` over many short rows, and the cost of a million.

    python benchmarks/scale.py rouge --rows 1000000 --workers 1 --dollars-per-hour 0.10

The rows are invented: a candidate and a reference of 10 words, a source of 25. The peak is of the largest
process. Cost of a million rows = 1,000,000 / (rows per second × 3,600) × dollars per hour.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = [
    "rain",
    "fell",
    "all",
    "day",
    "and",
    "the",
    "pool",
    "will",
    "close",
    "in",
    "may",
    "said",
    "a",
    "council",
    "nobody",
    "came",
    "late",
    "ferry",
    "town",
]


def make_rows(path: Path, count: int) -> None:
    """Write rows of invented words."""
    draw = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for at in range(count):
            texts = [" ".join(draw.choices(WORDS, k=length)) for length in (10, 25, 10)]
            row = {"id": str(at), "candidate": texts[0], "source": texts[1], "references": texts[2:]}
            file.write(json.dumps(row) + "\n")


def main() -> None:
    """Make rows, score them in another process, print one line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("metrics", nargs="+")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", default="1")
    parser.add_argument("--dollars-per-hour", type=float, default=0.10, help="of the whole machine")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "rows.jsonl"), Path(folder, "out.jsonl")
        make_rows(data, arguments.rows)
        words = [*arguments.metrics, "-i", str(data), "-o", str(out), "--workers", arguments.workers]
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "gistmeter.app.cli", "score", *words, "--no-spans"], check=True)
        seconds = time.perf_counter() - start
    speed = arguments.rows / seconds
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    cost = 1_000_000 / (speed * 3600) * arguments.dollars_per_hour
    print(
        f"{' '.join(arguments.metrics)}: {arguments.rows:,} rows, {arguments.workers} workers, "
        f"{seconds:.0f} s, {speed:,.0f} rows/s, peak {peak:.0f} MB, {cost:.3f} dollars per million rows"
    )


if __name__ == "__main__":
    main()
