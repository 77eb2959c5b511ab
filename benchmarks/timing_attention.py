"""Time attention on a CPU: PyTorch's fused kernel, and two matrix products with a softmax.

Both run in turn, with oneDNN, on the shapes of batches of texts. Run this on an idle machine.

    python benchmarks/timing_attention.py
"""

import argparse
import time

import numpy as np
import torch
from tabulate import tabulate
from torch.nn.functional import scaled_dot_product_attention

from gistmeter.models.run.cpu import fast_products, is_exact

SHAPES = (
    (12, 12, 170, 32),
    (1, 12, 512, 32),
    (20, 12, 97, 32),
    (40, 12, 44, 32),
    (4, 12, 256, 64),
    (16, 12, 128, 64),
)
"""Rows, heads, tokens and width of a head, in models of MiniLM's and of MPNet's size."""


def main() -> None:
    """Time the shapes and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    table = [row(shape, arguments.runs) for shape in SHAPES]
    print(f"{torch.get_num_threads()} threads, oneDNN {'is' if is_exact() else 'is not'} used")
    print(tabulate(table, ("shape", "fused ms", "plain ms", "ratio"), floatfmt=".2f", tablefmt="pipe"))


def row(shape: tuple[int, int, int, int], runs: int) -> tuple[str, float, float, float]:
    """Return the shape, the median milliseconds of both computations, and their ratio."""
    rows, heads, tokens, width = shape
    queries, keys, values = (torch.randn(rows, tokens, heads, width).transpose(1, 2) for _ in range(3))
    mask = torch.ones(rows, 1, tokens, tokens, dtype=torch.bool)
    seconds = np.zeros((runs + 1, 2))
    with fast_products(torch.device("cpu")):
        for at in range(runs + 1):
            for whole in (False, True):
                started = time.perf_counter()
                with torch.set_grad_enabled(not whole):  # the context leaves it to the fused kernel then
                    scaled_dot_product_attention(queries, keys, values, mask)
                seconds[at, int(whole)] = time.perf_counter() - started
    fused, plain = 1000 * np.median(seconds[1:], axis=0)
    return "×".join(map(str, shape)), fused, plain, fused / plain


if __name__ == "__main__":
    main()
