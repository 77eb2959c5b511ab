"""Time ClozE, the cross mode of SPEED, and `check`, with and without the rule for copied sentences.

Both run in turn, each time with models that are loaded anew, so that nothing is cached. Run this on an idle
machine.

    python benchmarks/timing_copied.py --data summeval.dev.jsonl.gz
"""

import argparse
import time
from collections.abc import Sequence
from itertools import islice
from unittest.mock import patch

import numpy as np
from tabulate import tabulate

import gistmeter as gm
from gistmeter.core.example import Example
from gistmeter.io.rows import read_rows

METRICS = ("cloze", "speed:mode=cross,task=nli,against=source", "check")
RULES = ("gistmeter.metrics.cloze.prepared.copied_from", "gistmeter.metrics.speed.entailment.copied_from")


def none_copied(sentences: Sequence[str], source: Sequence[str], *, parts: bool = True) -> list[int | None]:
    """Stand in for `copied_from`: no sentence is a copy."""
    return [None] * len(sentences)


def main() -> None:
    """Time the metrics and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True)
    parser.add_argument("--rows", type=int, default=96)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    examples = [row.example for row in islice(read_rows(arguments.data), arguments.rows)]
    table = []
    for metric in METRICS:
        runs = [(without(metric, examples), seconds(metric, examples)) for _ in range(arguments.runs)]
        asked, trusted = np.median(runs, axis=0).tolist()
        table.append((metric, asked, trusted, asked / trusted))
    print(f"{len(examples)} rows, median of {arguments.runs} runs")
    heads = ("metric", "all asked, s", "copies trusted, s", "ratio")
    print(tabulate(table, heads, floatfmt=".2f", tablefmt="pipe"))


def without(metric: str, examples: Sequence[Example]) -> float:
    """Return the seconds without the rule."""
    with patch(RULES[0], none_copied), patch(RULES[1], none_copied):
        return seconds(metric, examples)


def seconds(metric: str, examples: Sequence[Example]) -> float:
    """Return the seconds to score the examples, after the first of them as a warm-up."""
    loaded = gm.load(metric)
    loaded.score(examples[:1])
    started = time.perf_counter()
    loaded.score(examples)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
