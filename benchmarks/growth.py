"""Measure scoring time by source length: it grows linearly with the number of words, not quadratically.

    python benchmarks/growth.py
    python benchmarks/growth.py --words 400 --metric cloze

Texts are random; the model is the included one, with masks_per_pass=1 unless stated otherwise.
"""

import argparse
import time
from random import Random

from timing_fill import WORDS

from gistmeter import Example
from gistmeter.catalog import build
from gistmeter.models.run.runtime import Runtime


def main() -> None:
    """Time the variants and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--metric", default="maskeval", choices=["maskeval", "cloze"])
    parser.add_argument("--words", type=int, default=200, help="words of the shortest source")
    parser.add_argument("--runs", type=int, default=3, help="number of runs; the fastest counts")
    arguments = parser.parse_args()
    rng = Random(0)
    candidate = " ".join(rng.choices(WORDS.split(), k=30))
    source = " ".join(rng.choices(WORDS.split(), k=4 * arguments.words))
    variants: list[tuple[str, int, dict[str, object]]] = [(f"{times}x", times, {}) for times in (1, 2, 4)]
    if arguments.metric == "maskeval":
        variants = [(name, times, {"masks_per_pass": 1}) for name, times, _ in variants]
        variants.append(("4x, keep=0.2", 4, {"masks_per_pass": 1, "keep": 0.2}))
        variants.append(("4x, preset options", 4, {}))
    print(f"{arguments.metric}, source of {arguments.words} words")
    for name, times, options in variants:
        metric = build(arguments.metric, runtime=Runtime(device="cpu", progress=False), options=options)
        example = Example("1", candidate, " ".join(source.split()[: times * arguments.words]))
        metric.score([example])  # warm up
        seconds = []
        for _ in range(arguments.runs):
            started = time.perf_counter()
            metric.score([example])
            seconds.append(time.perf_counter() - started)
        print(f"{name:>24}  {min(seconds):7.2f} s")


if __name__ == "__main__":
    main()
