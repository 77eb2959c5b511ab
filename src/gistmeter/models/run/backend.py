"""What runs a module: PyTorch, or OpenVINO on processors. Metrics, and the models above, do not know which.

A model hands over the submodules that it is made of: modules that turn tensors into tensors and keep nothing
between calls. `place` returns what runs a submodule.
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
    """Return what runs a submodule of a model, where and in the precision that the runtime says.

    Args:
        submodule: Takes tensors by position; returns one, or a tuple of them.
        runtime: Where and how to run.
        example: Makes inputs, to convert and to check the submodule with.
        calibrate: Runs texts of the project's own through the whole model, for `int8`; the submodule is kept
            in full precision without it.

    Returns:
        A function of the submodule's inputs that raises `NotFinite` where an output is no number. PyTorch's
        runs the submodule itself, whose weights may be trained; OpenVINO's has the weights of its first call,
        and returns what PyTorch's returns.
    """
    submodule = submodule.eval().to(runtime.torch_device(), runtime.torch_dtype())
    if runtime.torch_device().type == "cpu":
        grant_threads()
    if runtime.engine == "torch":
        return Finite(submodule)
    from gistmeter.models.run.openvino.submodule import OpenVinoSubmodule

    return Finite(OpenVinoSubmodule(submodule, runtime, example, calibrate))


class Finite:
    """Runs a submodule of a model, and refuses outputs that are no numbers.

    Args:
        run: The submodule.
    """

    def __init__(self, run: Submodule) -> None:
        self.run = run

    def __call__(self, *inputs: torch.Tensor) -> Outputs:
        """Run the submodule.

        Raises:
            NotFinite: If an output holds NaN or infinity.
        """
        outputs = self.run(*inputs)
        for output in outputs if isinstance(outputs, tuple) else (outputs,):
            check_finite(output)
        return outputs


def check_finite(output: torch.Tensor) -> None:
    """Raise NotFinite if a tensor holds NaN or infinity.

    The largest number shows both in one pass. Minus infinity passes beside other numbers: it stands for
    what a model leaves out.
    """
    if output.is_floating_point() and output.numel() and not output.detach().amax().isfinite():
        raise NotFinite(NOT_FINITE)
