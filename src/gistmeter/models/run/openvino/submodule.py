"""A submodule of a model run by OpenVINO, converted directly from the PyTorch module.

Every conversion is compared with the module it was made of, on inputs of another shape than it was traced
with, before it is used: also when it was read from the cache.
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
"""Rows and tokens of the inputs that a submodule is converted and compared with."""
TOLERANCE = {"fp32": 1e-3, "bf16": 0.1}
"""Largest difference to PyTorch's fp32 as a share of the largest number: a wrong graph is far beyond it."""

COLLECTING = ContextVar("COLLECTING", default=False)
"""Whether all submodules run on PyTorch and keep their inputs, for `int8`."""

log = logging.getLogger(__name__)


class OpenVinoSubmodule:
    """Runs a submodule of a model by OpenVINO on the processor; several threads may call it, one by one.

    Args:
        submodule: The module, in full precision.
        runtime: Says the precision. Under `backend=auto` and `fp32`, PyTorch runs what cannot be converted.
        example: Makes inputs of the submodule.
        calibrate: Runs texts of the project's own through the whole model; see `models.run.openvino.int8`.
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
        """Run the submodule; the first call converts it, or reads its conversion from the cache."""
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
        """Return the inputs that the submodule gets while calibration texts run through the whole model."""
        if not self._samples and self.calibrate is not None:
            collecting = COLLECTING.set(True)
            try:
                self.calibrate()
            finally:
                COLLECTING.reset(collecting)
        samples, self._samples = self._samples, []
        return samples

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to another process as the module, which is converted there or read from the cache."""
        return OpenVinoSubmodule, (self.submodule, self.runtime, self.example, self.calibrate)

    def _prepared(self) -> Submodule:
        try:
            return self._converted()
        except GistmeterError:
            raise
        except Exception as error:  # whatever the two libraries raise where a model is new to them
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            if self.runtime.backend == "auto" and self.runtime.dtype == "fp32":
                log.warning("PyTorch runs a part that OpenVINO cannot convert (%s)", reason)
                return self.submodule
            raise GistmeterError(
                f"OpenVINO cannot convert this model ({reason}); use --backend torch"
            ) from error

    def _converted(self) -> Submodule:
        precision = self.runtime.dtype if self.calibrate or self.runtime.dtype != "int8" else "fp32"
        kind = "int8" if precision == "int8" else "float"  # bf16 is made of the same file as fp32
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
            raise ValueError("its numbers differ from PyTorch's")
        store_model(key, model)
        return run

    def _agrees(self, run: Submodule, precision: str) -> bool:
        """Tell whether it computes what the module computes."""
        inputs = self.example(*CHECKED)
        with torch.inference_mode():
            pairs = zip(_tuple(run(*inputs)), _tuple(self.submodule(*inputs)), strict=True)
            return all(difference(ours, theirs) <= TOLERANCE[precision] for ours, theirs in pairs)


def difference(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """Return the largest difference as a share of the largest number; 0 where nothing is finite."""
    finite = theirs.isfinite()
    if ours.shape != theirs.shape or not torch.equal(finite, ours.isfinite()):
        return float("inf")
    largest = theirs[finite].abs().max() if finite.any() else torch.ones(())
    return float(((ours - theirs)[finite].abs() / largest).max()) if finite.any() else 0.0


def _tuple(outputs: Outputs) -> Tensors:
    return outputs if isinstance(outputs, tuple) else (outputs,)
