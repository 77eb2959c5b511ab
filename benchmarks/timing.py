"""Time every metric with every backend and precision, and write a table and a plot.

Each configuration runs in its own process, so that its memory can be measured. Run this on an idle machine:
another busy process changes the ratios considerably.

    python benchmarks/timing.py --data summeval.dev.jsonl.gz --tokenizer t5-base/tokenizer.json
    python benchmarks/timing.py --data summeval.dev.jsonl.gz --rows 8 --only cloze --output /tmp
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from random import Random
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from tabulate import tabulate
from timing_cases import SHIPPED, Setting, make, names
from timing_fill import WORDS

from gistmeter import Example
from gistmeter.io.rows import read_rows
from gistmeter.models.run.cpu import granted_share
from gistmeter.models.run.runtime import Runtime

WAYS = (
    ("torch", "fp32"),
    ("torch", "bf16"),
    ("openvino", "fp32"),
    ("openvino", "bf16"),
    ("openvino", "int8"),
)
HEADERS = ("metric", "runs on", "pairs/s", "ratio", "GB", "largest difference", "changed predictions")
LENGTHS = (1, 2, 4)
PACKAGES = ("torch", "transformers", "openvino", "nncf")
BASE = 200
"""Number of words of the shortest source in the plot."""


@dataclass(frozen=True, slots=True)
class Run:
    """Result of one process."""

    pairs: float
    seconds: float
    gigabytes: float
    numbers: list[float]
    predictions: list[bool]


def main() -> None:
    """Run all measurements and write the report, or run one measurement as a subprocess."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="rows with candidates, sources and references")
    parser.add_argument("--tokenizer", help="tokenizer.json of T5: also run the papers' sizes")
    parser.add_argument("--rows", type=int, default=64, help="rows for metrics with included models")
    parser.add_argument("--sized-rows", type=int, default=5, help="rows for models of the papers' sizes")
    parser.add_argument("--every", type=int, default=20, help="use every n-th blank of MaskEval on T5-base")
    parser.add_argument("--only", action="append", help="a metric, by its name in the table")
    parser.add_argument("--output", default="docs", help="folder for timing.md and its picture")
    parser.add_argument("--process", nargs=3, metavar=("NAME", "BACKEND", "DTYPE"), help=argparse.SUPPRESS)
    parser.add_argument("--words", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.process:
        json.dump(one_process(arguments), sys.stdout)
        return
    known = names(setting_of(arguments, ""))
    chosen = [name for name in known if not arguments.only or name in arguments.only]
    rows = [row for name in chosen for row in measured(name)]
    ways = WAYS if "maskeval" in chosen else ()
    growth = {f"{backend} {dtype}": grown(backend, dtype) for backend, dtype in ways}
    write(Path(arguments.output), rows, growth, machine())


def setting_of(arguments: argparse.Namespace, name: str) -> Setting:
    """Return the input of a case."""
    if arguments.words:  # for the plot: random texts of known length
        rng = Random(0)
        candidate, source = (" ".join(rng.choices(WORDS.split(), k=size)) for size in (30, arguments.words))
        return Setting([Example("1", candidate, source)], None, 1)
    shipped = name in SHIPPED or name.startswith("speed ")
    most = arguments.rows if shipped else arguments.sized_rows
    rows = (row.example for row in read_rows(arguments.data) if row.problem is None)
    return Setting(
        [example for _, example in zip(range(most), rows, strict=False)], arguments.tokenizer, arguments.every
    )


def one_process(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run one case with one backend and precision, or with the naive implementation."""
    name, backend, dtype = arguments.process
    naive = backend == "naive"
    runtime = Runtime(device="cpu", backend="torch" if naive else backend, dtype=dtype, cache_mb=0)
    case = make(name, setting_of(arguments, name), runtime)
    case.warm()
    started = time.perf_counter()
    numbers, predictions = case.naive() if naive else case.ours()
    seconds = time.perf_counter() - started
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "pairs": case.pairs,
        "seconds": seconds,
        "gigabytes": gigabytes,
        "numbers": numbers,
        "predictions": predictions,
    }


def start(name: str, backend: str, dtype: str, *more: str) -> Run | str:
    """Run a configuration in a subprocess; return its result, or the error message."""
    command = [sys.executable, *sys.argv, "--process", name, backend, dtype, *more]
    print(f"{name}: {backend} {dtype} {' '.join(more)}", file=sys.stderr, flush=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1].partition(": ")[2]
    return Run(**json.loads(done.stdout))


def measured(name: str) -> list[tuple[str, ...]]:
    """Return the table rows of one metric."""
    naive, exact = start(name, "naive", "fp32"), start(name, *WAYS[0])
    assert isinstance(naive, Run) and isinstance(exact, Run), (naive, exact)
    rows: list[tuple[str, ...]] = [(name, "naive", *speed(naive, naive), "", "")]
    for backend, dtype in WAYS:
        found = exact if (backend, dtype) == WAYS[0] else start(name, backend, dtype)
        if isinstance(found, str):
            rows.append((name, f"{backend} {dtype}", "", "", "", found, ""))
            continue
        apart = np.abs(np.subtract(found.numbers, exact.numbers)).max()
        changed = np.not_equal(found.predictions, exact.predictions).mean() if exact.predictions else 0.0
        rows.append((name, f"{backend} {dtype}", *speed(found, naive), f"{apart:.1e}", f"{changed:.2%}"))
    return rows


def speed(run: Run, naive: Run) -> tuple[str, str, str]:
    """Return pairs per second, speed-up over the naive implementation, and memory."""
    return (
        f"{run.pairs / run.seconds:.3g}",
        f"{naive.seconds / run.seconds:.1f}×",
        f"{run.gigabytes:.2f}",
    )


def grown(backend: str, dtype: str) -> list[float]:
    """Return the seconds of MaskEval for sources of one, two and four times the base length."""
    runs = [start("maskeval", backend, dtype, "--words", str(BASE * times)) for times in LENGTHS]
    return [run.seconds for run in runs if isinstance(run, Run)]


def machine() -> str:
    """Describe the machine and the package versions."""
    try:
        said = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        name = next(line.partition(": ")[2] for line in said.splitlines() if line.startswith("model name"))
        flags = next(line for line in said.splitlines() if line.startswith("flags")).split()
    except (OSError, StopIteration):
        name, flags = platform.processor(), []
    units = [
        flag
        for flag in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8")
        if flag in flags
    ]
    share = granted_share()
    limit = f", limited to {share:g}" if share else ""
    return f"{name}, {torch.get_num_threads()} threads{limit} ({', '.join(units)}); " + ", ".join(
        [f"Python {platform.python_version()}", *(f"{name} {installed(name)}" for name in PACKAGES)]
    )


def installed(package: str) -> str:
    """Return a package's version, or "none"."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def draw(path: Path, growth: dict[str, list[float]]) -> None:
    """Plot seconds by source length."""
    figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
    words = [BASE * times for times in LENGTHS]
    for name, seconds in growth.items():
        if seconds:
            axes.plot(words, seconds, marker="o", label=name)
    axes.set(xlabel="words of the source", ylabel="seconds", xlim=(0, None), ylim=(0, None))
    axes.legend(frameon=False)
    figure.savefig(path)


def write(folder: Path, rows: list[tuple[str, ...]], growth: dict[str, list[float]], said: str) -> None:
    """Write the table and draw the plot."""
    folder.mkdir(parents=True, exist_ok=True)
    if growth:
        draw(folder / "timing.svg", growth)
    table = tabulate(rows, HEADERS, "github", disable_numparse=True)
    text = (Path(__file__).parent / "timing.template.md").read_text(encoding="utf-8")
    command = " ".join(["python benchmarks/timing.py", *sys.argv[1:]])
    (folder / "timing.md").write_text(
        text.format(table=table, machine=said, command=command), encoding="utf-8"
    )
    print(table)


if __name__ == "__main__":
    main()
