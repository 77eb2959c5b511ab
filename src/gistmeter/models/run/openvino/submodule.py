"""Runs a submodule with OpenVINO, converted directly from the PyTorch module.

Before use, every conversion is compared with the PyTorch module on inputs of a different shape than those of
the trace, including conversions from the cache.
"""

import logging
from collections.abc import Callable
from contextvars import ContextVar
from threading import RLock
from typing import Any

import torch

from gistmeter.core.errors import GistmeterError
from gistmeter.models.run.openvino.cache import key_of, read_model, store_model
from gistmeter.models.run.openvino.model import check_process, compiled, convert
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import DummyInputs, Submodule, Tensors
from gistmeter.models.run.types import Outputs

TRACED, CHECKED = (2, 7), (3, 5)
"""Rows and tokens of the inputs for converting a submodule and for comparing the conversion."""
TOLERANCE = {"fp32": 1e-3, "bf16": 0.1}
"""Largest accepted difference to PyTorch's fp32, relative to the largest output. Wrong graphs exceed it."""

COLLECTING = ContextVar("COLLECTING", default=False)
"""Whether all submodules run on PyTorch and record their inputs, for calibrating `int8`."""

log = logging.getLogger(__name__)


class OpenVinoSubmodule:
    """Runs a submodule with OpenVINO on the CPU. Thread-safe: calls run one after another.

    Args:
        submodule: The module, in full precision.
        runtime: Sets the precision. With `backend=auto` and `fp32`, PyTorch runs submodules that OpenVINO
            cannot convert.
        example: Creates inputs of the submodule.
        calibrate: Runs the calibration texts through the whole model; see `models.run.openvino.int8`.
    """

    def __init__(
        self,
        submodule: torch.nn.Module,
        runtime: Runtime,
        example: DummyInputs,
        calibrate: Callable[[], object] | None,
    ) -> None:
        self.submodule, self.runtime, self.example, self.calibrate = submodule, runtime, example, calibrate
        self._samples: list[Tensors] = []
        self._lock = RLock()
        self._run: Submodule | None = None

    def __call__(self, *inputs: torch.Tensor) -> Outputs:
        """Run the submodule; the first call converts it or loads the conversion from the cache."""
        if COLLECTING.get():
            if self._run is None:
                self._samples.append(tuple(tensor.clone() for tensor in inputs))
            return self.submodule(*inputs)
        check_process()  # before the lock, which another thread of the parent may have held
        with self._lock:
            if self._run is None:
                self._run = self._prepared()
            return self._run(*inputs)

    def collect(self) -> list[Tensors]:
        """Return the inputs of the submodule, recorded while calibration texts run through the model."""
        if not self._samples and self.calibrate is not None:
            collecting = COLLECTING.set(True)
            try:
                self.calibrate()
            finally:
                COLLECTING.reset(collecting)
        samples, self._samples = self._samples, []
        return samples

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the PyTorch module; the receiving process converts it or loads it from the cache."""
        return OpenVinoSubmodule, (self.submodule, self.runtime, self.example, self.calibrate)

    def _prepared(self) -> Submodule:
        try:
            return self._converted()
        except GistmeterError:
            raise
        except Exception as error:  # the exception types of the two libraries are not documented
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            if self.runtime.backend == "auto" and self.runtime.dtype == "fp32":
                log.warning("OpenVINO cannot convert a part of the model, so PyTorch runs it (%s)", reason)
                return self.submodule
            raise GistmeterError(
                f"OpenVINO cannot convert this model ({reason}); use --backend torch"
            ) from error

    def _converted(self) -> Submodule:
        precision = self.runtime.dtype if self.calibrate or self.runtime.dtype != "int8" else "fp32"
        kind = "int8" if precision == "int8" else "float"  # bf16 uses the same converted file as fp32
        key = key_of(self.submodule, kind)
        model = read_model(key)
        if model is not None:
            run = compiled(model, precision)
            if precision == "int8" or self._agrees(run, precision):
                return run
        model = convert(self.submodule, self.example(*TRACED))
        if precision == "int8":
            from gistmeter.models.run.openvino.int8 import quantized

            model = quantized(self.submodule, self.collect(), model)
        run = compiled(model, precision)
        if precision != "int8" and not self._agrees(run, precision):
            raise ValueError("its outputs differ from PyTorch's")
        store_model(key, model)
        return run

    def _agrees(self, run: Submodule, precision: str) -> bool:
        """Return whether the outputs agree with those of the PyTorch module."""
        inputs = self.example(*CHECKED)
        with torch.inference_mode():
            pairs = zip(_tuple(run(*inputs)), _tuple(self.submodule(*inputs)), strict=True)
            return all(difference(ours, theirs) <= TOLERANCE[precision] for ours, theirs in pairs)


def difference(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """Return the largest difference, relative to the largest value; 0 if no value is finite."""
    finite = theirs.isfinite()
    if ours.shape != theirs.shape or not torch.equal(finite, ours.isfinite()):
        return float("inf")
    largest = theirs[finite].abs().max() if finite.any() else torch.ones(())
    return float(((ours - theirs)[finite].abs() / largest).max()) if finite.any() else 0.0


def _tuple(outputs: Outputs) -> Tensors:
    return outputs if isinstance(outputs, tuple) else (outputs,)
