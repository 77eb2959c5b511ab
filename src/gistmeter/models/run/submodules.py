"""The parts of models that backends run: modules that turn tensors into tensors, and inputs made for them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from gistmeter.models.run.types import Model, Outputs

Tensors = tuple[torch.Tensor, ...]
DummyInputs = Callable[[int, int], Tensors]
"""Makes inputs for a submodule: so many rows of so many tokens."""
Submodule = Callable[..., Any]


class States(torch.nn.Module):
    """The last layer's states of an encoder of transformers.

    Args:
        model: Has a `last_hidden_state`.
    """

    def __init__(self, model: Model) -> None:
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

    def read(self, output: Outputs) -> torch.Tensor:
        """Return the tensor that is wanted of what the model puts out."""
        states: torch.Tensor = output.last_hidden_state
        return states


class Logits(States):
    """The logits of a model with a head: a classifier, or a masked language model read everywhere."""

    def read(self, output: Outputs) -> torch.Tensor:
        """Return the logits."""
        logits: torch.Tensor = output.logits
        return logits


def token_rows(vocabulary: int, *, typed: bool = False) -> DummyInputs:
    """Return what makes ids, their attention mask and, where the model knows them, types.

    Args:
        vocabulary: How many ids there are.
        typed: Whether the model tells the first text of a pair from the second.
    """
    return partial(_token_rows, vocabulary, typed)


def state_rows(width: int) -> DummyInputs:
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
