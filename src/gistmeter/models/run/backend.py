"""Selects the backend that runs a module: PyTorch, or OpenVINO on CPUs.

A model consists of submodules: stateless modules that map tensors to tensors. `place` returns a callable that
runs a submodule on the selected backend, so metrics and model classes do not depend on the backend.
"""

from collections.abc import Callable

import torch

from gistmeter.core.errors import NotFinite
from gistmeter.models.run.cpu import grant_threads
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import DummyInputs, Submodule
from gistmeter.models.run.types import Outputs

NOT_FINITE = (
    "the model output is not finite (NaN or infinity); its weights are damaged or overflow: "
    "run gistmeter models verify, or use --dtype fp32"
)
"""The problem of a row whose model output is not finite."""


def place(
    submodule: torch.nn.Module,
    runtime: Runtime,
    example: DummyInputs,
    calibrate: Callable[[], object] | None = None,
) -> Submodule:
    """Return a callable that runs a submodule on the device and in the precision of the runtime.

    Args:
        submodule: Takes positional tensors; returns one tensor or a tuple of tensors.
        runtime: The device, the precision and the backend.
        example: Creates the dummy inputs that convert and check the submodule.
        calibrate: Runs the calibration texts through the whole model, for `int8`; without it, the submodule
            stays in full precision.

    Returns:
        A function with the inputs and outputs of the submodule; it raises `NotFinite` if an output is not
        finite. On PyTorch it runs the submodule itself, so later changes of the weights take effect; on
        OpenVINO the weights are those at the time of the first call.
    """
    submodule = submodule.eval().to(runtime.torch_device(), runtime.torch_dtype())
    if runtime.torch_device().type == "cpu":
        grant_threads()
    if runtime.engine == "torch":
        return Finite(submodule)
    from gistmeter.models.run.openvino.submodule import OpenVinoSubmodule

    return Finite(OpenVinoSubmodule(submodule, runtime, example, calibrate))


class Finite:
    """Runs a submodule and rejects outputs that are not finite.

    Args:
        run: The callable that runs the submodule.
    """

    def __init__(self, run: Submodule) -> None:
        self.run = run

    def __call__(self, *inputs: torch.Tensor) -> Outputs:
        """Run the submodule.

        Raises:
            NotFinite: If an output contains NaN or infinity.
        """
        outputs = self.run(*inputs)
        for output in outputs if isinstance(outputs, tuple) else (outputs,):
            check_finite(output)
        return outputs


def check_finite(output: torch.Tensor) -> None:
    """Raise NotFinite if a tensor contains NaN or infinity.

    The maximum is NaN or infinity in both cases, so one pass suffices. Minus infinity is accepted next to
    finite numbers, because models use it for masked positions.
    """
    if output.is_floating_point() and output.numel() and not output.detach().amax().isfinite():
        raise NotFinite(NOT_FINITE)
