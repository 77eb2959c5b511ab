"""Converts PyTorch modules to OpenVINO and compiles them for this CPU."""

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

import torch

from gistmeter.core.errors import UsageError
from gistmeter.models.run.submodules import Submodule, Tensors
from gistmeter.models.run.types import Model, Module, Outputs

TRACING = Lock()
"""Held during tracing, because PyTorch cannot trace two modules at once."""


def check_process() -> None:
    """Raise an error in a process that was forked after its parent used OpenVINO.

    A forked process has none of its parent's threads, and OpenVINO waits for them forever.

    Raises:
        UsageError: If the parent process used OpenVINO before the fork.
    """
    if os.getpid() != _first_process():
        raise UsageError(
            "OpenVINO cannot run in a process that was forked after OpenVINO was used; start worker "
            'processes with the start method "spawn", or use --backend torch'
        )


@cache
def _first_process() -> int:
    """Return the id of the process that first uses OpenVINO; forked processes inherit the cached value."""
    return os.getpid()


def openvino() -> Module:
    """Import OpenVINO with its telemetry disabled, which would use the network during conversion."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type] # makes the import fail
    import openvino

    return openvino


def convert(submodule: torch.nn.Module, inputs: Tensors) -> Model:
    """Convert a module. Its inputs have a fixed rank and dynamic sizes."""
    with TRACING, quiet(), torch.no_grad():
        return openvino().convert_model(submodule, example_input=inputs)


def compiled(model: Model, dtype: str) -> Submodule:
    """Compile a converted model for this CPU.

    Raises:
        UsageError: If bf16 is requested and the CPU does not support it.
    """
    core = openvino().Core()
    has_bf16 = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if dtype == "bf16" and not has_bf16:
        raise UsageError("this CPU does not support bf16; use --dtype fp32, or --backend torch")
    settings = {
        # With int8, the remaining operations (attention, norms) run in bf16 if possible: the error is far
        # below that of int8. Set fp32 explicitly, because OpenVINO's default is bf16 on CPUs that support it.
        "INFERENCE_PRECISION_HINT": "bf16" if dtype != "fp32" and has_bf16 else "f32",
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,  # other processes use the CPUs too
    }
    request = core.compile_model(model, "CPU", settings).create_infer_request()

    def run(*inputs: torch.Tensor) -> Outputs:
        found = request.infer([tensor.numpy() for tensor in inputs], share_inputs=True)
        outputs = tuple(torch.from_numpy(output) for output in found.to_tuple())
        return outputs[0] if len(outputs) == 1 else outputs

    return run


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings and log messages of the libraries inside the block."""
    levels = {name: logging.getLogger(name).level for name in ("nncf", "transformers")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in levels:
            logging.getLogger(name).setLevel(logging.ERROR)
        try:
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)
