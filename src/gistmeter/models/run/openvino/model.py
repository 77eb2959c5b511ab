"""Models of OpenVINO: made of PyTorch's modules, prepared for this processor."""

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
"""PyTorch cannot trace two modules at once."""


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
    """Import OpenVINO, without what it would report over the network when it converts a model."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type] # how Python spells "not here"
    import openvino

    return openvino


def convert(submodule: torch.nn.Module, inputs: Tensors) -> Model:
    """Convert a module; all its inputs keep their rank and may have any size."""
    with TRACING, quiet(), torch.no_grad():
        return openvino().convert_model(submodule, example_input=inputs)


def compiled(model: Model, dtype: str) -> Submodule:
    """Prepare a converted model for this machine.

    Raises:
        UsageError: If the processor lacks bf16.
    """
    core = openvino().Core()
    has_bf16 = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if dtype == "bf16" and not has_bf16:
        raise UsageError("this processor has no bf16 of its own; use --dtype fp32, or --backend torch")
    settings = {
        # What is not in 8 bits (attention, norms) is in 16 where it can be: its error is far below theirs. By
        # default, processors that have bf16 would use it for everything.
        "INFERENCE_PRECISION_HINT": "bf16" if dtype != "fp32" and has_bf16 else "f32",
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,  # other work shares the machine
    }
    request = core.compile_model(model, "CPU", settings).create_infer_request()

    def run(*inputs: torch.Tensor) -> Outputs:
        found = request.infer([tensor.numpy() for tensor in inputs], share_inputs=True)
        outputs = tuple(torch.from_numpy(output) for output in found.to_tuple())
        return outputs[0] if len(outputs) == 1 else outputs

    return run


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries' remarks about models to themselves."""
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
