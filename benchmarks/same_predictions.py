"""Count the predictions of the included filler that change with backend or precision, on real text.

Every word of both texts of each row is masked alone, until enough words are masked. The prediction is whether
the model predicts the word.

    python benchmarks/same_predictions.py --data summeval.dev.jsonl.gz
    python benchmarks/same_predictions.py --data summeval.dev.jsonl.gz --dtype bf16 --backend torch
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from gistmeter import Example
from gistmeter.io.rows import read_rows
from gistmeter.metrics.maskeval.metric import MaskEval
from gistmeter.metrics.maskeval.presets import build
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.runtime import Runtime


class Recorder:
    """A filler that records its answers.

    Args:
        filler: Wrapped filler.
    """

    def __init__(self, filler: Any) -> None:  # noqa: ANN401
        self.filler = filler
        self.fills: list[Fill] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.filler, name)

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        """Fill the queries and record the fills."""
        found: list[list[Fill]] = self.filler.fill(queries)
        self.fills += [fill for fills in found for fill in fills]
        return found


def asked(examples: list[Example], words: int, runtime: Runtime) -> tuple[list[Fill], list[float]]:
    """Score rows until enough words are masked; return the fills and the scores."""
    metric = build("mini", None, runtime, {"masks_per_pass": 1})
    recorder = Recorder(metric.filler)
    recording: MaskEval = replace(metric, filler=cast("Any", recorder))
    values: list[float] = []
    for start in range(0, len(examples), 4):
        values += [score.value for score in recording.score(examples[start : start + 4])]
        if len(recorder.fills) >= words:
            break
    return recorder.fills, values


def main() -> None:
    """Compare with PyTorch in fp32 and print the differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="rows with candidates and sources")
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--backend", default="openvino", choices=["torch", "openvino"])
    parser.add_argument("--dtype", default="fp32", choices=["fp32", "bf16", "int8"])
    arguments = parser.parse_args()
    # Sort by system, so that the first rows have different articles.
    rows = [row.example for row in read_rows(arguments.data) if row.problem is None]
    examples = sorted(rows, key=lambda example: (example.system or "", example.id))
    exact = asked(examples, arguments.words, Runtime(device="cpu", backend="torch"))
    runtime = Runtime(device="cpu", backend=arguments.backend, dtype=arguments.dtype)
    ours = asked(examples, arguments.words, runtime)
    fills = list(zip(exact[0], ours[0], strict=True))
    changed = sum(one.matches != two.matches for one, two in fills)
    gold = [np.subtract(one.gold_probabilities, two.gold_probabilities) for one, two in fills]
    print(f"{runtime.engine} {runtime.dtype} against torch fp32, {len(exact[1])} rows, {len(fills):,} words")
    print(f"changed predictions                {changed} ({changed / len(fills):.3%})")
    print(f"changed fills                      {sum(one.predicted != two.predicted for one, two in fills)}")
    print(f"largest difference, probability  {np.abs(np.concatenate(gold)).max():.1e}")
    print(f"largest difference, score        {np.abs(np.subtract(exact[1], ours[1])).max():.1e}")


if __name__ == "__main__":
    main()
