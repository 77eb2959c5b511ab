"""Texts to vectors: one a text, or one a token."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.batching import in_batches, mask, pad
from gistmeter.models.load import POOLING_FILE, ModelFiles, find_model, load_tokenizer, load_weights
from gistmeter.models.runtime import Runtime
from gistmeter.models.tokens import Tokens, tokenize, window_of

Pooling = Literal["mean", "max", "cls"]
Row = tuple[int, ...]
FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class TextVectors:
    """One vector a text.

    Args:
        vectors: Unit length, shape (texts, dimensions).
        tokens: What was read of each text.
    """

    vectors: FloatArray
    tokens: list[Tokens]


class Encoder:
    """A bidirectional language model that reads texts.

    Args:
        model: Any encoder of transformers with a `last_hidden_state`.
        tokenizer: The fast tokenizer that belongs to it.
        identity: What signatures call the model; the window and the precision are added.
        pooling: How token vectors become one text vector.
        runtime: Where and how to run.
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - transformers' classes are untyped
        tokenizer: Any,  # noqa: ANN401
        *,
        identity: str,
        pooling: Pooling = "mean",
        runtime: Runtime | None = None,
    ) -> None:
        self.runtime = runtime or Runtime()
        self.device = self.runtime.torch_device()
        self.model = model.eval().to(self.device, self.runtime.torch_dtype())
        self.tokenizer = tokenizer
        self.pooling = pooling
        self.window = window_of(model, tokenizer)
        self.identity = f"{identity}/{self.window}/{self.runtime.dtype}"

    @classmethod
    def load(cls, name: str, runtime: Runtime | None = None, *, layers: int | None = None) -> "Encoder":
        """Load an encoder by name.

        Args:
            name: `minilm`, a folder, or a Hub id.
            runtime: Where and how to run.
            layers: How many of its layers to keep, counted from the bottom; all by default.

        Raises:
            ModelNotFound: If there is no such model.
            BadModel: If it cannot be loaded.
            UsageError: If it has fewer layers.
        """
        files = find_model(name)
        tokenizer = load_tokenizer(files)
        if layers is None:
            model = load_weights(files, "AutoModel", tokenizer)
            return cls(model, tokenizer, identity=files.identity, pooling=_pooling(files), runtime=runtime)
        _check_layers(files, layers)
        model = load_weights(files, "AutoModel", tokenizer, num_hidden_layers=layers)
        identity = f"{files.identity}/layer{layers}"
        return cls(model, tokenizer, identity=identity, pooling=_pooling(files), runtime=runtime)

    def embed(self, texts: Sequence[str]) -> TextVectors:
        """Turn each text into one vector; what does not fit into the model's window is cut off."""
        tokens = tokenize(self.tokenizer, texts, self.window)
        vectors = self._run([t.ids for t in tokens], self._text_vectors)
        width = self.model.config.hidden_size
        return TextVectors(np.stack(vectors) if vectors else np.zeros((0, width), np.float32), tokens)

    def embed_tokens(self, texts: Sequence[str]) -> list[tuple[Tokens, FloatArray]]:
        """Turn each token into a vector of unit length, shape (tokens, dimensions); long texts are cut."""
        tokens = tokenize(self.tokenizer, texts, self.window)
        vectors = self._run([t.ids for t in tokens], self._token_vectors)
        return list(zip(tokens, vectors, strict=True))

    def _run(self, rows: list[Row], read: Callable[[list[Row]], list[FloatArray]]) -> list[FloatArray]:
        return in_batches(rows, read, length=len, runtime=self.runtime, label="encoding")

    def _states(self, rows: list[Row]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the last layer's states, shape (rows, longest, dimensions), and the attention mask."""
        attention = mask(rows, self.device)
        ids = pad(rows, self.tokenizer.pad_token_id, self.device)
        return self.model(input_ids=ids, attention_mask=attention).last_hidden_state.float(), attention

    def _text_vectors(self, rows: list[Row]) -> list[FloatArray]:
        states, attention = self._states(rows)
        on = attention.unsqueeze(-1)
        if self.pooling == "cls":
            pooled = states[:, 0]
        elif self.pooling == "max":
            pooled = states.masked_fill(on == 0, -torch.inf).amax(dim=1)
        else:
            pooled = (states * on).sum(dim=1) / on.sum(dim=1)
        return list(torch.nn.functional.normalize(pooled, dim=-1).cpu().numpy())

    def _token_vectors(self, rows: list[Row]) -> list[FloatArray]:
        states, _ = self._states(rows)
        unit = torch.nn.functional.normalize(states, dim=-1).cpu().numpy()
        # A copy, so that a short row does not keep its whole padded batch alive.
        return [vectors[: len(row)].copy() for vectors, row in zip(unit, rows, strict=True)]


def _check_layers(files: ModelFiles, layers: int) -> None:
    from transformers import AutoConfig

    there = AutoConfig.from_pretrained(files.folder, local_files_only=True).num_hidden_layers
    if not 1 <= layers <= there:
        raise UsageError(f"layer={layers}: the model has layers 1 to {there}")


def _pooling(files: ModelFiles) -> Pooling:
    """Return how the model was trained to pool; the mean where it does not say."""
    path = files.folder / POOLING_FILE
    if not path.is_file():
        return "mean"
    modes = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Pooling] = {
        "pooling_mode_mean_tokens": "mean",
        "pooling_mode_max_tokens": "max",
        "pooling_mode_cls_token": "cls",
    }
    on = [
        names.get(name) for name, value in modes.items() if value is True and name.startswith("pooling_mode")
    ]
    if len(on) != 1 or on[0] is None:
        raise BadModel(f"{path}: one of {', '.join(names)} must be on, and nothing else")
    return on[0]
