"""Faster products of matrices on processors where they stay exact.

PyTorch multiplies fp32 matrices with MKL, which runs at half its speed or less on AMD processors. Allowing
oneDNN lower precision makes PyTorch choose oneDNN instead; on many processors that keeps computing in fp32,
on others it really rounds. So the accuracy is measured on this machine, once a process, before it is trusted.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

# Rows, inner size and columns of products like those of the models, small and large.
SHAPES = ((7, 384, 384), (64, 384, 1536), (300, 768, 3072), (512, 1536, 384))
# fp32 sums of this length err by about 2e-6 of their spread, by the order of summation; bf16 errs by 5e-3.
TOLERANCE = 2e-5
# Below this many tokens the fused attention costs more than it saves, once oneDNN multiplies for it.
SHORT = 64

oneDNN: Any = torch.backends.mkldnn  # its settings have no types


@contextmanager
def fast_products(device: torch.device, longest: int) -> Iterator[None]:
    """Multiply by the faster route inside the block, where that is as exact; elsewhere change nothing.

    Args:
        device: What the model runs on; only processors are concerned.
        longest: Tokens of the longest row of the batch.
    """
    if device.type != "cpu" or not is_exact():
        yield
        return
    with ExitStack() as stack:
        stack.enter_context(_onednn())
        if longest < SHORT:
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        yield


@cache
def is_exact() -> bool:
    """Tell whether the faster route computes in fp32 on this machine."""
    if not hasattr(getattr(oneDNN, "matmul", None), "fp32_precision"):
        return False  # an older PyTorch
    generator = torch.Generator().manual_seed(0)
    with _onednn(), torch.inference_mode():
        return all(_error(*shape, generator) < TOLERANCE for shape in SHAPES)


def _error(rows: int, inner: int, columns: int, generator: torch.Generator) -> float:
    """Return the largest error of one product, as a share of the spread of its results."""
    left = torch.randn(rows, inner, generator=generator)
    right = torch.randn(columns, inner, generator=generator)
    bias = torch.randn(columns, generator=generator)
    exact = torch.nn.functional.linear(left.double(), right.double(), bias.double())
    return float((torch.nn.functional.linear(left, right, bias) - exact).abs().max() / exact.std())


@contextmanager
def _onednn() -> Iterator[None]:
    setting = oneDNN.matmul
    before = setting.fp32_precision
    setting.fp32_precision = "bf16"
    try:
        yield
    finally:
        setting.fp32_precision = before
