"""Submodules that backends run, and functions that create dummy inputs for them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from gistmeter.models.run.types import Model, Outputs

Tensors = tuple[torch.Tensor, ...]
DummyInputs = Callable[[int, int], Tensors]
"""Creates inputs for a submodule, given the number of rows and the number of tokens per row."""
Submodule = Callable[..., Any]


class States(torch.nn.Module):
    """Computes the last hidden states of a transformers encoder.

    Args:
        model: A model whose output has a `last_hidden_state`.
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
        """Return the tensor to use from the model output."""
        states: torch.Tensor = output.last_hidden_state
        return states


class Logits(States):
    """Computes the logits of a classifier, or of a masked language model at every position."""

    def read(self, output: Outputs) -> torch.Tensor:
        """Return the logits."""
        logits: torch.Tensor = output.logits
        return logits


def token_rows(vocabulary: int, *, typed: bool = False) -> DummyInputs:
    """Return a function that creates token ids, their attention mask and optionally token types.

    Args:
        vocabulary: The size of the vocabulary.
        typed: Whether the model has token types (segments) for the two texts of a pair.
    """
    return partial(_token_rows, vocabulary, typed)


def state_rows(width: int) -> DummyInputs:
    """Return a function that creates hidden states, shape (rows · tokens, width)."""
    return partial(_state_rows, width)


# Module-level functions, because objects that contain them are pickled.
def _token_rows(vocabulary: int, typed: bool, rows: int, tokens: int) -> Tensors:
    generator = torch.Generator().manual_seed(rows * tokens)
    ids = torch.randint(0, vocabulary, (rows, tokens), generator=generator)
    attention = torch.ones_like(ids)
    attention[-1, (tokens + 1) // 2 :] = 0  # pads the last row, so that tracing keeps the mask
    return (ids, attention, torch.zeros_like(ids)) if typed else (ids, attention)


def _state_rows(width: int, rows: int, tokens: int) -> Tensors:
    return (torch.randn(rows * tokens, width, generator=torch.Generator().manual_seed(rows * tokens)),)
