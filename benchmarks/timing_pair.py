"""Time single pairs of texts with all metrics of a preset. Run this on an idle machine.

Each pair comes from another document and is scored by itself, by one metric after the other with a common
runtime, so that metrics with the same encoder share its states. The first pair only warms up the models.

    python benchmarks/timing_pair.py --data summeval.dev.jsonl.gz
    python benchmarks/timing_pair.py --data summeval.dev.jsonl.gz --preset base --dtype bf16
"""

import argparse
import time

import numpy as np
import torch
from tabulate import tabulate

from gistmeter.catalog import load_all
from gistmeter.io.rows import read_rows
from gistmeter.models.run.runtime import Runtime

METRICS = ("all", "speed:mode=cross,task=nli,against=source")


def main() -> None:
    """Score the pairs and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="rows with doc_id, candidate, source and references")
    parser.add_argument("--preset", default="mini")
    parser.add_argument("--dtype", default="fp32")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("metrics", nargs="*", help=f"names or specs; by default {' '.join(METRICS)}")
    arguments = parser.parse_args()
    runtime = Runtime(dtype=arguments.dtype, backend=arguments.backend)
    metrics = load_all(arguments.metrics or METRICS, preset=arguments.preset, runtime=runtime)
    read = (row.example for row in read_rows(arguments.data) if row.problem is None)
    by_document = {example.doc_id: example for example in read}
    first, *rest = list(by_document.values())[: arguments.pairs + 1]
    for metric in metrics.values():
        metric.score([first])
    seconds = np.zeros((len(rest), len(metrics)))
    for at, example in enumerate(rest):
        for column, metric in enumerate(metrics.values()):
            started = time.perf_counter()
            metric.score([example])
            seconds[at, column] = time.perf_counter() - started
    others = seconds[:, [label != "maskeval" for label in metrics]].sum(axis=1)
    rows = list(zip(metrics, seconds.mean(axis=0), seconds.max(axis=0), strict=True))
    for label, sums in (("all", seconds.sum(axis=1)), ("all but maskeval", others)):
        rows.append((label, sums.mean(), sums.max()))
    print(
        f"preset {arguments.preset}, {runtime.precision}, {runtime.engine}, {torch.get_num_threads()} threads"
    )
    print(tabulate(rows, (f"{len(rest)} pairs", "mean s", "longest s"), floatfmt=".2f", tablefmt="pipe"))


if __name__ == "__main__":
    main()
