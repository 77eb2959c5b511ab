"""Encodes texts into one vector per text, or one vector per token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.core.errors import BadModel
from gistmeter.models.encode.bidirectional import load_bidirectional
from gistmeter.models.encode.layers import kept_layers
from gistmeter.models.encode.pooling import Pooling, check_modules, pooling_of
from gistmeter.models.encode.text_memory import SHARED, TextMemory, text_key
from gistmeter.models.encode.tuned import TextHead, is_tuned, load_tuned
from gistmeter.models.encode.updated import KIND as UPDATED
from gistmeter.models.encode.updated import load_updated
from gistmeter.models.files import multilingual
from gistmeter.models.files.adapters import is_kind
from gistmeter.models.files.find import ModelFiles, find_model
from gistmeter.models.files.folder import LIMIT_FILE, PROMPT_FILE, read_json
from gistmeter.models.files.load import count_layers, load_tokenizer
from gistmeter.models.run import calibration
from gistmeter.models.run.backend import check_finite, place
from gistmeter.models.run.batching import in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import States, token_rows
from gistmeter.models.run.tokens import Tokens, tokenize, window_of, without_prompt
from gistmeter.models.run.types import Model, Tokenizer

Row = tuple[int, ...]
FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class TextVectors:
    """One vector per text.

    Args:
        vectors: Vectors of unit length, shape (texts, dimensions).
        tokens: The tokens of each text after truncation.
    """

    vectors: FloatArray
    tokens: list[Tokens]


class Encoder:
    """A bidirectional language model that encodes texts.

    Args:
        model: A transformers encoder with a `last_hidden_state`.
        tokenizer: The fast tokenizer of the model.
        identity: The name of the model in signatures; the window and the precision are appended.
        pooling: How to combine the token vectors into one text vector.
        runtime: The device, the precision and the backend.
        prompt: The start of each text that the model was trained with, such as `query: `.
    """

    head: TextHead | None = None
    """Classifies texts by their token vectors; None for models without this head."""
    text_window: int | None
    """Number of tokens of a text that `embed` reads: the window, or the lower limit of a sentence model."""

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        *,
        identity: str,
        pooling: Pooling = "mean",
        runtime: Runtime | None = None,
        prompt: str = "",
    ) -> None:
        self.runtime = runtime or Runtime()
        self.device = self.runtime.torch_device()
        self.model = model
        self.memory = TextMemory()
        self.submodule = place(
            States(model), self.runtime, token_rows(model.config.vocab_size), self._calibrate
        )
        self.tokenizer = tokenizer
        self.pooling = pooling
        self.window = self.text_window = window_of(model, tokenizer)
        self.prompt = prompt
        self.name = identity
        self.identity = self._identity(self.window)

    @classmethod
    def load(cls, name: str, runtime: Runtime | None = None, *, layers: int | None = None) -> "Encoder":
        """Load an encoder by name.

        Args:
            name: `minilm`, a folder (also of `models.encode.tuned` or `.updated`), or a Hub id.
            runtime: The device, the precision and the backend.
            layers: The number of layers to keep, from the bottom; all by default.

        Raises:
            ModelNotFound: If the model does not exist.
            BadModel: If it cannot be loaded, or has a module after its pooling, such as a dense layer.
            UsageError: If the model has fewer layers.
        """
        encoder = cls._load(name, runtime, layers)
        encoder.memory = SHARED
        return encoder

    @property
    def text_identity(self) -> str:
        """The name of the model in signatures of scores that depend on `embed`."""
        return self._identity(self.text_window)

    def _identity(self, window: int | None) -> str:
        prompt = f"/prompt={self.prompt.strip()}" if self.prompt else ""
        return f"{self.name}/{window}/{self.runtime.precision}{prompt}"

    @classmethod
    def _load(cls, name: str, runtime: Runtime | None, layers: int | None) -> "Encoder":
        files = find_model(name)
        if is_tuned(files):
            model, tokenizer, kept, head = load_tuned(files, layers)
            tuned = cls(model, tokenizer, identity=f"{files.identity}/layer{kept}", runtime=runtime)
            tuned.head = head
            return tuned
        if is_kind(files, UPDATED):
            model, tokenizer, kept = load_updated(files, layers)
            return cls(model, tokenizer, identity=f"{files.identity}/layer{kept}", runtime=runtime)
        tokenizer, identity = load_tokenizer(files), files.identity
        config: dict[str, int] = {}
        if layers is not None:
            kept_layers(layers, count_layers(files))
            identity, config = f"{identity}/layer{layers}", {"num_hidden_layers": layers}
        model = load_bidirectional(files, tokenizer, **config)
        check_modules(files.folder)
        prompt = prompt_of(files)
        pooling = pooling_of(files.folder, prompt)
        encoder = cls(model, tokenizer, identity=identity, pooling=pooling, runtime=runtime, prompt=prompt)
        encoder.text_window = min(filter(None, (encoder.window, _limit(files))), default=None)
        return encoder

    def embed(self, texts: Sequence[str]) -> TextVectors:
        """Return one vector per text; texts longer than `text_window` are truncated."""
        found = self._encode(texts, self._text_vectors, self.text_window)
        width = self.model.config.hidden_size
        vectors = np.stack([vector for _, vector in found]) if found else np.zeros((0, width), np.float32)
        return TextVectors(vectors, [tokens for tokens, _ in found])

    def embed_tokens(self, texts: Sequence[str]) -> list[tuple[Tokens, FloatArray]]:
        """Return unit-length token vectors, shape (tokens, dimensions), of each text; truncate long texts.

        Do not modify the vectors: later calls may return the same arrays.
        """
        return self._encode(texts, self._token_vectors, self.window)

    def _encode(
        self, texts: Sequence[str], read: Callable[[list[Row]], list[FloatArray]], window: int | None
    ) -> list[tuple[Tokens, FloatArray]]:
        """Encode the texts that are not in the cache."""
        unique = list(dict.fromkeys(texts))
        runtime, most = self.runtime, self.runtime.cache_mb * 2**20
        # The runtime changes only the last digits; keep them apart so that runtimes can be compared.
        run_by = f"{runtime.engine}/{self.device}/{runtime.token_budget()}"
        model = f"{self.identity}/{window}/{self.pooling}/{read.__name__}/{run_by}"
        keys = {text: text_key(model, text) for text in unique}
        kept = {text: self.memory.get(keys[text]) for text in unique} if most else {}
        found = {text: entry for text, entry in kept.items() if entry is not None}
        new = [text for text in unique if text not in found]
        tokens = self._tokenize(new, window)
        vectors = in_batches([t.ids for t in tokens], read, length=len, runtime=runtime, label="encoding")
        for text, entry in zip(new, zip(tokens, vectors, strict=True), strict=True):
            found[text] = entry
            if most:
                self.memory.put(keys[text], entry, most)
        return [found[text] for text in texts]

    def _tokenize(self, texts: Sequence[str], window: int | None) -> list[Tokens]:
        """Tokenize texts after the prompt; the tokens of the prompt count as special."""
        tokens = tokenize(self.tokenizer, [self.prompt + text for text in texts], window)
        return [without_prompt(each, len(self.prompt)) for each in tokens] if self.prompt else tokens

    def _calibrate(self) -> None:
        with torch.inference_mode():
            for tokens in self._tokenize(calibration.texts(), self.window):
                self._states([tokens.ids])

    def _states(self, rows: list[Row]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the last hidden states, shape (rows, longest, dimensions), and the attention mask."""
        attention = mask(rows, self.device)
        ids = pad(rows, self.tokenizer.pad_token_id, self.device)
        return self.submodule(ids, attention).float(), attention

    def _text_vectors(self, rows: list[Row]) -> list[FloatArray]:
        states, attention = self._states(rows)
        on = attention.unsqueeze(-1)
        if self.pooling == "cls":
            pooled = states[:, 0]
        elif self.pooling == "max":
            pooled = states.masked_fill(on == 0, -torch.inf).amax(dim=1)
        else:
            pooled = (states * on).sum(dim=1) / on.sum(dim=1)
        return [vector.copy() for vector in _unit(pooled)]

    def _token_vectors(self, rows: list[Row]) -> list[FloatArray]:
        states, _ = self._states(rows)
        # Copy, so that a short row does not keep the whole padded batch in memory.
        return [vectors[: len(row)].copy() for vectors, row in zip(_unit(states), rows, strict=True)]


def _unit(vectors: torch.Tensor) -> FloatArray:
    """Scale vectors to unit length; raise NotFinite if a component is not finite."""
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    check_finite(unit)  # an infinite component became NaN
    array: FloatArray = unit.cpu().numpy()
    return array


def prompt_of(files: ModelFiles) -> str:
    """Return the default prompt in the model folder, as sentence-transformers reads it, or that of E5."""
    if files.identity.startswith("intfloat/multilingual-e5"):
        return multilingual.E5_PROMPT
    path = files.folder / PROMPT_FILE
    # The pinned models have no prompt, and this file is not among those that are verified.
    verified = "/" in files.identity or files.identity.startswith(("sha256:", "multilingual-"))
    settings = read_json(path) if verified and path.is_file() else {}
    prompts, name = settings.get("prompts"), settings.get("default_prompt_name")
    return str(prompts.get(name, "")) if isinstance(prompts, dict) and name else ""


def _limit(files: ModelFiles) -> int | None:
    """Return the maximum number of tokens of a text in a sentence-transformers model; None without one."""
    path = files.folder / LIMIT_FILE
    if not path.is_file():
        return None
    limit = read_json(path).get("max_seq_length")
    if limit is None:
        return None
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise BadModel(f"{path}: max_seq_length is {limit!r}; give a number of tokens, or null")
    return limit
