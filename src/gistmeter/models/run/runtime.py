"""Where and how models run. Nothing here decides a number, except the precision."""

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
    """Where and how models run.

    Args:
        device: `auto` takes an accelerator where there is one; else a torch device: `cpu`, `cuda`, `cuda:1`.
        dtype: Precision of the models: `fp32`, `bf16`, or `int8` (OpenVINO only). Part of every signature.
        backend: What runs them: `torch`, `openvino` (processors only, the extra `cpu`), or `auto`: OpenVINO
            on processors where it is installed, else PyTorch.
        batch_tokens: How many tokens, padding included, go through a model at once; by default 2,048 on a
            processor (more only leaves its caches) and 65,536 on an accelerator.
        cache_mb: Most megabytes of encoded texts that are kept in memory for the next call; 0 for none.
        progress: Whether work of over two seconds shows a progress bar on standard error.

    Raises:
        UsageError: If a value does not exist, or does not go with another.
        MissingExtra: If what it asks for is not installed.
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
            raise UsageError("dtype int8 runs on OpenVINO only; leave --backend torch out")
        if not self.device.startswith(("auto", "cpu")):
            raise UsageError(f"OpenVINO runs on the processor, not on {self.device!r}; try --device cpu")
        if not has_openvino():
            raise MissingExtra("openvino", EXTRA)
        if self.dtype == "int8" and find_spec("nncf") is None:
            raise MissingExtra("nncf", EXTRA)

    @property
    def _wants_openvino(self) -> bool:
        return self.backend == "openvino" or self.dtype == "int8"

    @property
    def engine(self) -> Literal["torch", "openvino"]:
        """What runs the models, with `auto` decided."""
        if self._wants_openvino:
            return "openvino"
        chosen = self.backend == "auto" and has_openvino() and self.torch_device().type == "cpu"
        return "openvino" if chosen else "torch"

    @property
    def precision(self) -> str:
        """What signatures say: the precision, and what runs the models where that changes numbers."""
        return f"{self.dtype}-openvino" if self.dtype != "fp32" and self.engine == "openvino" else self.dtype

    def torch_device(self) -> "torch.device":
        """Return the device to run on.

        Raises:
            UsageError: If this machine has no such device.
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
                f"device {self.device!r} cannot be used here ({reason}); try --device cpu"
            ) from None
        if device.type == "meta":
            raise UsageError("device 'meta' computes no numbers; try --device cpu")
        return device

    def token_budget(self) -> int:
        """Return how many tokens go through a model at once."""
        if self.batch_tokens is not None:
            return self.batch_tokens
        return 2_048 if self.torch_device().type == "cpu" else 65_536

    def torch_dtype(self) -> "torch.dtype":
        """Return the precision of PyTorch's own weights; OpenVINO makes other precisions of full ones."""
        import torch

        return torch.bfloat16 if self.dtype == "bf16" and self.engine == "torch" else torch.float32


def has_openvino() -> bool:
    """Tell whether OpenVINO is installed."""
    return find_spec("openvino") is not None
