"""Measure the share of time that metrics spend in matrix products, relative to the processor's peak speed.

*Peak* is the speed of one large matrix product in PyTorch. *Limit* is the maximum possible speed-up over the
naive implementation with the same products and precision: products at peak speed and no other cost.

    python benchmarks/timing_peak.py --data summeval.dev.jsonl.gz --tokenizer t5-base/tokenizer.json
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import torch
from tabulate import tabulate
from timing_cases import Setting, make
from timing_fill import timed
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from gistmeter.io.rows import read_rows
from gistmeter.models.run.runtime import Runtime

CASES = ("maskeval T5-base", "cloze RoBERTa-base", "cloze BART-base", "speed", "bertscore")
SHAPE = (2_048, 768, 3_072)
"""Shape of the large product: a batch of tokens through a feed-forward layer."""
HEADERS = ("metric", "naive s", "s", "ratio", "in products", "GFLOP/s", "limit")


class Products(TorchFunctionMode):
    """Accumulates the time of matrix products, in seconds."""

    seconds = 0.0

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        """Run a function of PyTorch."""
        started = time.perf_counter()
        result = function(*args, **(kwargs or {}))
        name = getattr(function, "__name__", "")
        if name in ("linear", "matmul", "bmm", "einsum", "scaled_dot_product_attention", "__matmul__"):
            self.seconds += time.perf_counter() - started
        return result


def peak() -> float:
    """Return the GFLOP/s of a large product: best of ten runs."""
    tokens, width, wide = SHAPE
    left, right = torch.randn(tokens, width), torch.randn(wide, width)
    fastest = min(timed(lambda: torch.nn.functional.linear(left, right))[1] for _ in range(10))
    return 2e-9 * tokens * width * wide / fastest


def main() -> None:
    """Time each case with the naive implementation and with gistmeter."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="rows with candidates, sources and references")
    parser.add_argument("--tokenizer", required=True, help="tokenizer.json of T5")
    parser.add_argument("--rows", type=int, default=64, help="rows for metrics with included models")
    parser.add_argument("--sized-rows", type=int, default=2, help="rows for models of the papers' sizes")
    parser.add_argument("--every", type=int, default=20, help="use every n-th of MaskEval's blanks")
    arguments = parser.parse_args()
    most = peak()
    print(f"peak: {most:.0f} GFLOP/s in fp32, {torch.get_num_threads()} threads", file=sys.stderr)
    rows = (row.example for row in read_rows(arguments.data) if row.problem is None)
    examples = list(islice(rows, max(arguments.rows, arguments.sized_rows)))
    table = []
    for name in CASES:
        given = examples[: arguments.sized_rows if name.endswith("-base") else arguments.rows]
        runtime = Runtime(device="cpu", backend="torch", cache_mb=0)
        case = make(name, Setting(given, arguments.tokenizer, arguments.every), runtime)
        case.warm()
        with FlopCounterMode(display=False) as counter:
            case.ours()
        with Products() as products:
            _, ours = timed(case.ours)
        _, naive = timed(case.naive)
        work = counter.get_total_flops() / 1e9
        table.append(
            (
                name,
                f"{naive:.1f}",
                f"{ours:.1f}",
                f"{naive / ours:.1f}×",
                f"{products.seconds / ours:.0%}",
                f"{work / ours:.0f}",
                f"{naive / (work / most):.1f}×",
            )
        )
    print(tabulate(table, HEADERS, "github", disable_numparse=True))


if __name__ == "__main__":
    main()
