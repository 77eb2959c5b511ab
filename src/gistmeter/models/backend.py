"""What runs a module: PyTorch, or OpenVINO on processors. Metrics, and the models above, do not know which.

A model hands over the pieces that it is made of: modules that turn tensors into tensors and keep nothing
between calls. `place` returns what runs a piece.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from gistmeter.core.errors import NotFinite
from gistmeter.models.cpu import grant_threads
from gistmeter.models.runtime import Runtime

Tensors = tuple[torch.Tensor, ...]
Example = Callable[[int, int], Tensors]
"""Makes inputs for a piece: so many rows of so many tokens."""
Piece = Callable[..., Any]


def place(
    piece: torch.nn.Module,
    runtime: Runtime,
    example: Example,
    calibrate: Callable[[], object] | None = None,
) -> Piece:
    """Return what runs a piece of a model, where and in the precision that the runtime says.

    Args:
        piece: Takes tensors by position; returns one, or a tuple of them.
        runtime: Where and how to run.
        example: Makes inputs, to convert and to check the piece with.
        calibrate: Runs texts of the project's own through the whole model, for `int8`; the piece is kept in
            full precision without it.

    Returns:
        A function of the piece's inputs that raises `NotFinite` where an output is no number. PyTorch's runs
        the piece itself, whose weights may be trained; OpenVINO's has the weights of its first call, and
        returns what PyTorch's returns.
    """
    piece = piece.eval().to(runtime.torch_device(), runtime.torch_dtype())
    if runtime.torch_device().type == "cpu":
        grant_threads()
    if runtime.engine == "torch":
        return Finite(piece)
    from gistmeter.models.openvino_piece import OpenVinoPiece

    return Finite(OpenVinoPiece(piece, runtime, example, calibrate))


class Finite:
    """Runs a piece of a model, and refuses outputs that are no numbers.

    Args:
        run: The piece.
    """

    def __init__(self, run: Piece) -> None:
        self.run = run

    def __call__(self, *inputs: torch.Tensor) -> Any:  # noqa: ANN401 - one tensor or several
        """Run the piece.

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
        raise NotFinite("the model gives numbers that are not finite; its weights are damaged or overflow")


class States(torch.nn.Module):
    """The last layer's states of an encoder of transformers.

    Args:
        model: Has a `last_hidden_state`.
    """

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - transformers' classes are untyped
        super().__init__()
        self.model = model

    def forward(
        self, ids: torch.Tensor, attention: torch.Tensor, types: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the states, shape (rows, tokens, dimensions)."""
        inputs = {"input_ids": ids, "attention_mask": attention}
        if types is not None:
            inputs["token_type_ids"] = types
        return self.read(self.model(**inputs))

    def read(self, output: Any) -> torch.Tensor:  # noqa: ANN401
        """Return the tensor that is wanted of what the model puts out."""
        states: torch.Tensor = output.last_hidden_state
        return states


class Logits(States):
    """The logits of a model with a head: a classifier, or a masked language model read everywhere."""

    def read(self, output: Any) -> torch.Tensor:  # noqa: ANN401
        """Return the logits."""
        logits: torch.Tensor = output.logits
        return logits


def token_rows(vocabulary: int, *, typed: bool = False) -> Example:
    """Return what makes ids, their attention mask and, where the model knows them, types.

    Args:
        vocabulary: How many ids there are.
        typed: Whether the model tells the first text of a pair from the second.
    """
    return partial(_token_rows, vocabulary, typed)


def state_rows(width: int) -> Example:
    """Return what makes states for a head, shape (rows, width)."""
    return partial(_state_rows, width)


# Not functions inside functions: what holds an example is sent to other processes.
def _token_rows(vocabulary: int, typed: bool, rows: int, tokens: int) -> Tensors:
    generator = torch.Generator().manual_seed(rows * tokens)
    ids = torch.randint(0, vocabulary, (rows, tokens), generator=generator)
    attention = torch.ones_like(ids)
    attention[-1, (tokens + 1) // 2 :] = 0  # the last row is padded, so that nothing takes masks for void
    return (ids, attention, torch.zeros_like(ids)) if typed else (ids, attention)


def _state_rows(width: int, rows: int, tokens: int) -> Tensors:
    return (torch.randn(rows * tokens, width, generator=torch.Generator().manual_seed(rows * tokens)),)
