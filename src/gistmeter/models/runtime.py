"""Where and how models run. Nothing here decides a number, except the precision."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gistmeter.core.errors import UsageError

if TYPE_CHECKING:
    import torch

Dtype = Literal["fp32", "bf16"]


@dataclass(frozen=True, slots=True)
class Runtime:
    """Where and how models run.

    Args:
        device: `auto` takes an accelerator where there is one; else a torch device: `cpu`, `cuda`, `cuda:1`.
        dtype: Precision of weights and activations: `fp32` or `bf16`. Part of every signature.
        batch_tokens: How many tokens, padding included, go through a model at once; by default 2,048 on a
            processor (more only leaves its caches) and 65,536 on an accelerator.
        progress: Whether work of over two seconds shows a progress bar on standard error.
    """

    device: str = "auto"
    dtype: Dtype = "fp32"
    batch_tokens: int | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        if self.dtype not in ("fp32", "bf16"):
            raise UsageError(f"dtype {self.dtype!r}: choose one of fp32, bf16")
        if self.batch_tokens is not None and self.batch_tokens < 1:
            raise UsageError(f"batch_tokens={self.batch_tokens}: give a number above 0")

    def torch_device(self) -> "torch.device":
        """Return the device to run on.

        Raises:
            UsageError: If this machine has no such device.
        """
        import torch

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
        return device

    def token_budget(self) -> int:
        """Return how many tokens go through a model at once."""
        if self.batch_tokens is not None:
            return self.batch_tokens
        return 2_048 if self.torch_device().type == "cpu" else 65_536

    def torch_dtype(self) -> "torch.dtype":
        """Return the precision as torch names it."""
        import torch

        return {"fp32": torch.float32, "bf16": torch.bfloat16}[self.dtype]
