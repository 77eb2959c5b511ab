"""Encoders of which training changed the upper layers, with a head that tells two kinds of texts apart."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from gistmeter.core.errors import BadModel, NotFinite, UsageError
from gistmeter.models.files.adapters import is_kind, read_tuned, restore_tuned
from gistmeter.models.files.load import ModelFiles, find_model, load_tokenizer, load_weights
from gistmeter.models.run.backend import NOT_FINITE
from gistmeter.models.run.types import Model

KIND = "gistmeter-encoder"
"""What the configuration of such a model says."""


@dataclass(frozen=True, slots=True, eq=False)
class TextHead:
    """Says how probable it is that a text is of the kind that was learned.

    Args:
        weight: Shape (dimensions,).
        bias: Added to the product.
    """

    weight: NDArray[np.float32]
    bias: float

    def probability(self, vectors: NDArray[np.float32]) -> float:
        """Return it for a text, from 0 to 1.

        Args:
            vectors: Of all its tokens, special ones included, of unit length, shape (tokens, dimensions).
        """
        with np.errstate(invalid="ignore"):
            logit = float(vectors.mean(axis=0) @ self.weight) + self.bias
        if not math.isfinite(logit):
            raise NotFinite(NOT_FINITE)
        return float(1 / (1 + np.exp(-logit)))


class TunedEncoder(torch.nn.Module):
    """An encoder whose upper layers learn, and a linear layer on the mean of its unit token vectors.

    Args:
        encoder: A BERT or a RoBERTa of transformers, without a head.
        layer: Whose states the linear layer reads, counted from 1.
        layers: How many layers up to that one learn, besides all above it; 0 for every weight, embeddings
            included.

    Raises:
        UsageError: If it has no such layers.
    """

    def __init__(self, encoder: Model, *, layer: int, layers: int) -> None:
        super().__init__()
        stack = encoder.encoder.layer
        if not 1 <= layer <= len(stack) or not 0 <= layers <= layer:
            raise UsageError(f"layer={layer}, layers={layers}: the model has layers 1 to {len(stack)}")
        encoder.pooler = None  # nothing reads it, so nothing would change it
        encoder.requires_grad_(not layers)
        if layers:
            stack[layer - layers :].requires_grad_(True)
        self.encoder, self.layer, self.layers = encoder, layer, layers
        width = encoder.config.hidden_size
        self.head = torch.nn.Linear(width, 1)
        # Unit vectors have small components, from which a new layer would learn slowly.
        self._scale = width**0.5

    def judge(self, states: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """Return the logits of texts, shape (texts,).

        Args:
            states: Of the layer that it reads, shape (texts, longest, dimensions).
            attention: 1 on tokens, 0 on padding, shape (texts, longest).
        """
        on = attention.unsqueeze(-1)
        pooled = (normalize(states.float(), dim=-1) * on).sum(dim=1) / on.sum(dim=1)
        logits: torch.Tensor = self.head(pooled * self._scale)[:, 0]
        return logits

    def cut(self, layers: int) -> None:
        """Leave only so many layers, counted from the bottom."""
        self.encoder.encoder.layer = self.encoder.encoder.layer[:layers]
        self.encoder.config.num_hidden_layers = layers

    def text_head(self) -> TextHead:
        """Return the linear layer as numbers, for vectors of unit length."""
        weight = self.head.weight.detach().numpy()[0] * np.float32(self._scale)
        return TextHead(weight, float(self.head.bias.detach()))


def is_tuned(files: ModelFiles) -> bool:
    """Tell whether a folder holds such a model."""
    return is_kind(files, KIND)


def load_tuned(files: ModelFiles, layers: int | None) -> tuple[Any, Any, int, TextHead | None]:
    """Load a tuned encoder.

    Args:
        files: From `find_model`.
        layers: How many of its layers to keep; all by default.

    Returns:
        The encoder, its tokenizer, how many layers it has, and the head, which is None if the layer that it
        reads was not kept.

    Raises:
        ModelNotFound: If its base is not to be had.
        BadModel: If a file is damaged, or the base is another one than it was trained on.
        UsageError: If it has fewer layers.
    """
    facts = read_tuned(files, KIND)
    try:
        layer, learned = int(facts["layer"]), int(facts["layers"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(f"{files.folder / 'config.json'} lacks {error}") from error
    kept = layer if layers is None else layers
    if not 1 <= kept <= layer:
        raise UsageError(f"layer={layers}: the model has layers 1 to {layer}")
    base = find_model(str(facts["base"]))
    tokenizer = load_tokenizer(base)
    encoder = load_weights(base, "AutoModel", tokenizer, num_hidden_layers=layer)
    tuned = TunedEncoder(encoder, layer=layer, layers=learned)
    restore_tuned(tuned, files)
    tuned.cut(kept)
    return tuned.encoder, tokenizer, kept, tuned.text_head() if kept == layer else None
