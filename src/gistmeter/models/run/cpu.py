"""Processors: how many threads they grant, and faster products of matrices where they stay exact.

PyTorch multiplies fp32 matrices with MKL, which runs at half its speed or less on AMD processors. Allowing
oneDNN lower precision makes PyTorch choose oneDNN instead; on many processors that keeps computing in fp32,
on others it really rounds. So the accuracy is measured on this machine, once a process, before it is trusted.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import RLock
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

_one_by_one = RLock()
"""Held while PyTorch's settings are changed: they belong to the process, not to a thread."""


def _after_fork() -> None:
    """Let a forked process run on one thread: it would wait for ever for those of its parent."""
    global _one_by_one  # noqa: PLW0603 - another thread of the parent may have held it
    _one_by_one = RLock()
    torch.set_num_threads(1)


if sys.platform != "win32":  # Windows cannot fork
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def fast_products(device: torch.device, longest: int) -> Iterator[None]:
    """Multiply by the faster route inside the block, where that is as exact; elsewhere change nothing.

    On processors, threads run such blocks one by one: PyTorch's settings belong to the whole process.

    Args:
        device: What the model runs on; only processors are concerned.
        longest: Tokens of the longest row of the batch.
    """
    if device.type != "cpu" or not is_exact():
        yield
        return
    with _one_by_one, ExitStack() as stack:
        stack.enter_context(_onednn())
        if longest < SHORT:
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        yield


def is_exact() -> bool:
    """Tell whether the faster route computes in fp32 on this machine."""
    with _one_by_one:
        return _is_exact()


@cache
def _is_exact() -> bool:
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


@cache
def grant_threads() -> None:
    """Let PyTorch use no more threads than the machine grants this process.

    PyTorch counts the processors that it may run on; a container may grant a smaller share of their time.
    OpenVINO is given as many threads as PyTorch has.
    """
    share = granted_share()
    if share is not None and share < torch.get_num_threads():
        torch.set_num_threads(max(1, int(share)))


def granted_share(root: Path = Path("/sys/fs/cgroup")) -> float | None:
    """Return how many processors' time a container's limit grants; None where there is no limit.

    Args:
        root: Where the limits of control groups are found; version 2 first, then version 1.
    """
    with suppress(OSError, ValueError):
        quota, period = (root / "cpu.max").read_text(encoding="utf-8").split()
        return None if quota == "max" else int(quota) / int(period)
    with suppress(OSError, ValueError):
        quota, period = (
            (root / "cpu" / f"cpu.cfs_{name}_us").read_text(encoding="utf-8") for name in ("quota", "period")
        )
        return None if int(quota) < 0 else int(quota) / int(period)
    return None
