"""CPU settings: the number of threads, and faster matrix products where they stay exact.

PyTorch multiplies fp32 matrices with MKL, which runs at half its speed or less on AMD CPUs. If oneDNN may use
a lower precision, PyTorch selects oneDNN instead. On many CPUs, oneDNN then still computes in fp32; on
others, it rounds. Each process therefore measures the accuracy once before it uses oneDNN.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

import torch

from gistmeter.models.run.attention import PlainAttention

# Rows, inner size and columns of matrix products, as in small and large models.
SHAPES = ((7, 384, 384), (64, 384, 1536), (300, 768, 3072), (512, 1536, 384))
# The error relative to the standard deviation is about 2e-6 in fp32 (summation order) and 5e-3 in bf16.
TOLERANCE = 2e-5

oneDNN: Any = torch.backends.mkldnn  # its settings have no types

_one_by_one = RLock()
"""Held while PyTorch's settings are changed, because they apply to the whole process."""


def _after_fork() -> None:
    """Limit a forked process to one thread; it would wait forever for the threads of its parent."""
    global _one_by_one  # noqa: PLW0603 - another thread of the parent may hold the lock
    _one_by_one = RLock()
    torch.set_num_threads(1)


if sys.platform != "win32":  # Windows cannot fork
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def fast_products(device: torch.device) -> Iterator[None]:
    """Use oneDNN for matrix products inside the block if it is as exact as MKL on this machine.

    On CPUs, only one thread at a time runs such a block, because PyTorch's settings apply to the process.

    Attention then runs as whole matrix products, too; see `PlainAttention`.

    Args:
        device: The device of the model; nothing changes on devices other than CPUs.
    """
    if device.type != "cpu" or not is_exact():
        yield
        return
    with _one_by_one, _onednn(), PlainAttention():
        yield


def is_exact() -> bool:
    """Return whether oneDNN computes in fp32 on this machine."""
    with _one_by_one:
        return _is_exact()


@cache
def _is_exact() -> bool:
    if not hasattr(getattr(oneDNN, "matmul", None), "fp32_precision"):
        return False  # this version of PyTorch lacks the setting
    generator = torch.Generator().manual_seed(0)
    with _onednn(), torch.inference_mode():
        return all(_error(*shape, generator) < TOLERANCE for shape in SHAPES)


def _error(rows: int, inner: int, columns: int, generator: torch.Generator) -> float:
    """Return the largest error of one product, divided by the standard deviation of its results."""
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
    """Limit PyTorch's threads to the CPU limit of the container.

    PyTorch counts the CPUs that it may run on, but a container may limit the CPU time further. OpenVINO uses
    the same number of threads as PyTorch.
    """
    share = granted_share()
    if share is not None and share < torch.get_num_threads():
        torch.set_num_threads(max(1, int(share)))


def granted_share(root: Path = Path("/sys/fs/cgroup")) -> float | None:
    """Return the CPU limit of the container, in CPUs; None if there is no limit.

    Args:
        root: The folder of the control groups; version 2 is read first, then version 1.
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
