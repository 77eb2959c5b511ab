"""Encoders with fine-tuned upper layers and a head that classifies texts into two classes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from gistmeter.core.errors import BadModel, NotFinite, UsageError
from gistmeter.models.encode.layers import cut, kept_layers
from gistmeter.models.files.adapters import is_kind, read_tuned, restore_tuned
from gistmeter.models.files.find import ModelFiles, find_model
from gistmeter.models.files.load import load_tokenizer, load_weights
from gistmeter.models.run.backend import NOT_FINITE
from gistmeter.models.run.types import Model

KIND = "gistmeter-encoder"
"""The `model_type` in the configuration of a tuned encoder."""


@dataclass(frozen=True, slots=True, eq=False)
class TextHead:
    """Predicts the probability that a text belongs to the positive class of the training.

    Args:
        weight: The weight vector, shape (dimensions,).
        bias: The bias.
    """

    weight: NDArray[np.float32]
    bias: float

    def probability(self, vectors: NDArray[np.float32]) -> float:
        """Return the probability for a text, from 0 to 1.

        Args:
            vectors: Unit-length vectors of all tokens, special tokens included, shape (tokens, dimensions).

        Raises:
            NotFinite: If a weight is NaN or infinity.
        """
        with np.errstate(invalid="ignore"):
            logit = float(vectors.mean(axis=0) @ self.weight) + self.bias
        if not math.isfinite(logit):
            raise NotFinite(NOT_FINITE)
        return float(1 / (1 + np.exp(-logit)))


class TunedEncoder(torch.nn.Module):
    """An encoder with trainable upper layers, and a linear layer on the mean of its unit token vectors.

    Args:
        encoder: A transformers BERT or RoBERTa without a head.
        layer: The layer whose states the linear layer reads, counted from 1.
        layers: The number of trainable layers up to that layer; all layers above it are trainable too. 0
            makes all weights trainable, embeddings included.

    Raises:
        UsageError: If the encoder does not have these layers.
    """

    def __init__(self, encoder: Model, *, layer: int, layers: int) -> None:
        super().__init__()
        stack = encoder.encoder.layer
        if not 1 <= layer <= len(stack) or not 0 <= layers <= layer:
            raise UsageError(
                f"layer={layer}, layers={layers}: choose layer from 1 to {len(stack)}, layers from 0 to layer"
            )
        encoder.pooler = None  # unused, so it would get no gradient
        encoder.requires_grad_(not layers)
        if layers:
            stack[layer - layers :].requires_grad_(True)
        self.encoder, self.layer, self.layers = encoder, layer, layers
        width = encoder.config.hidden_size
        self.head = torch.nn.Linear(width, 1)
        # Unit vectors have small components, which slow down the training of a new layer.
        self._scale = width**0.5

    def judge(self, states: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """Return the logits of texts, shape (texts,).

        Args:
            states: Hidden states of `layer`, shape (texts, longest, dimensions).
            attention: 1 for tokens, 0 for padding, shape (texts, longest).
        """
        on = attention.unsqueeze(-1)
        pooled = (normalize(states.float(), dim=-1) * on).sum(dim=1) / on.sum(dim=1)
        logits: torch.Tensor = self.head(pooled * self._scale)[:, 0]
        return logits

    def cut(self, layers: int) -> None:
        """Keep only the given number of layers, from the bottom."""
        cut(self.encoder, layers)

    def text_head(self) -> TextHead:
        """Return the linear layer as a NumPy head for vectors of unit length."""
        weight = self.head.weight.detach().numpy()[0] * np.float32(self._scale)
        return TextHead(weight, float(self.head.bias.detach()))


def is_tuned(files: ModelFiles) -> bool:
    """Return whether a folder contains a tuned encoder."""
    return is_kind(files, KIND)


def base_of(name: str) -> tuple[str, int] | None:
    """Return the encoder that a tuned encoder was trained from and its layer, or None for other models.

    Raises:
        ModelNotFound: If the model does not exist.
        BadModel: If a file is damaged.
    """
    files = find_model(name)
    if not is_tuned(files):
        return None
    facts = read_tuned(files, KIND)
    return str(facts["base"]), _layers(files, facts)[0]


def load_tuned(files: ModelFiles, layers: int | None) -> tuple[Any, Any, int, TextHead | None]:
    """Load a tuned encoder.

    Args:
        files: From `find_model`.
        layers: The number of layers to keep; all by default.

    Returns:
        The encoder, its tokenizer, its number of layers, and the head. The head is None if the layer that it
        reads is not kept.

    Raises:
        ModelNotFound: If the base model is not available.
        BadModel: If a file is damaged, or the base model is not the one used in training.
        UsageError: If the model has fewer layers.
    """
    facts = read_tuned(files, KIND)
    layer, learned = _layers(files, facts)
    kept = kept_layers(layers, layer)
    base = find_model(str(facts["base"]))
    tokenizer = load_tokenizer(base)
    encoder = load_weights(base, "AutoModel", tokenizer, num_hidden_layers=layer)
    tuned = TunedEncoder(encoder, layer=layer, layers=learned)
    restore_tuned(tuned, files)
    tuned.cut(kept)
    return tuned.encoder, tokenizer, kept, tuned.text_head() if kept == layer else None


def _layers(files: ModelFiles, facts: Mapping[str, Any]) -> tuple[int, int]:
    """Return the layer that the head reads, and the number of trained layers."""
    try:
        return int(facts["layer"]), int(facts["layers"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(
            f"{files.folder / 'config.json'} is not valid ({error}); save the model again"
        ) from error
