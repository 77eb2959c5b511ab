"""Settings for running models. Only the precision affects scores."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, get_args

from gistmeter.core.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    import torch

Dtype = Literal["fp32", "bf16", "int8"]
Backend = Literal["auto", "torch", "openvino"]
EXTRA = "cpu"


@dataclass(frozen=True, slots=True)
class Runtime:
    """Settings for running models.

    Args:
        device: `auto` selects an accelerator if there is one; or a PyTorch device: `cpu`, `cuda`, `cuda:1`.
        dtype: Precision of the models: `fp32`, `bf16`, or `int8` (OpenVINO only). Part of every signature.
        backend: `torch`, `openvino` (CPUs only; needs the extra `cpu`), or `auto`: OpenVINO on CPUs if it is
            installed, otherwise PyTorch.
        batch_tokens: Maximum number of tokens in a batch, padding included; by default 2,048 on a CPU (larger
            batches do not fit into its caches) and 65,536 on an accelerator.
        cache_mb: Maximum size of the in-memory cache of encoded texts, in megabytes; 0 disables it.
        progress: Whether to show a progress bar on standard error after two seconds.

    Raises:
        UsageError: If a value is unknown, or two values do not fit together.
        MissingExtra: If the selected backend is not installed.
    """

    device: str = "auto"
    dtype: Dtype = "fp32"
    backend: Backend = "auto"
    batch_tokens: int | None = None
    cache_mb: int = 256
    progress: bool = False

    def __post_init__(self) -> None:
        for name, value, choices in (("dtype", self.dtype, Dtype), ("backend", self.backend, Backend)):
            if value not in get_args(choices):
                raise UsageError(f"{name} {value!r}: choose one of {', '.join(get_args(choices))}")
        if self.batch_tokens is not None and self.batch_tokens < 1:
            raise UsageError(f"batch_tokens={self.batch_tokens}: give a number above 0")
        if self.cache_mb < 0:
            raise UsageError(f"cache_mb={self.cache_mb}: give 0 or more")
        if self._wants_openvino:
            self._check_openvino()

    def _check_openvino(self) -> None:
        if self.backend == "torch":
            raise UsageError("dtype int8 runs on OpenVINO only; remove --backend torch")
        if not self.device.startswith(("auto", "cpu")):
            raise UsageError(f"OpenVINO runs on CPUs only, not on {self.device!r}; use --device cpu")
        if not has_openvino():
            raise MissingExtra("openvino", EXTRA)
        if self.dtype == "int8" and find_spec("nncf") is None:
            raise MissingExtra("nncf", EXTRA)

    @property
    def _wants_openvino(self) -> bool:
        return self.backend == "openvino" or self.dtype == "int8"

    @property
    def engine(self) -> Literal["torch", "openvino"]:
        """The backend that runs the models, with `auto` resolved."""
        if self._wants_openvino:
            return "openvino"
        chosen = self.backend == "auto" and has_openvino() and self.torch_device().type == "cpu"
        return "openvino" if chosen else "torch"

    @property
    def precision(self) -> str:
        """The precision in signatures, with the backend where it changes scores."""
        return f"{self.dtype}-openvino" if self.dtype != "fp32" and self.engine == "openvino" else self.dtype

    def torch_device(self) -> "torch.device":
        """Return the PyTorch device of the models.

        Raises:
            UsageError: If this machine does not have the device.
        """
        import torch

        if self._wants_openvino:
            return torch.device("cpu")
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        try:
            device = torch.device(self.device)
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0]
            raise UsageError(
                f"device {self.device!r} is not available ({reason}); use --device cpu"
            ) from None
        if device.type == "meta":
            raise UsageError("device 'meta' does not compute; use --device cpu")
        return device

    def token_budget(self) -> int:
        """Return the maximum number of tokens in a batch."""
        if self.batch_tokens is not None:
            return self.batch_tokens
        return 2_048 if self.torch_device().type == "cpu" else 65_536

    def torch_dtype(self) -> "torch.dtype":
        """Return the precision of the PyTorch weights; OpenVINO converts other precisions from fp32."""
        import torch

        return torch.bfloat16 if self.dtype == "bf16" and self.engine == "torch" else torch.float32


def has_openvino() -> bool:
    """Return whether OpenVINO is installed."""
    return find_spec("openvino") is not None
