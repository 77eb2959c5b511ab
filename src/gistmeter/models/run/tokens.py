"""Tokenizes texts, with character offsets and truncation counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gistmeter.models.run.types import Encoding, Model, Tokenizer

# Tokenizers without a length limit report a number larger than this.
NO_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The tokens of one text, special ones included.

    Args:
        ids: Ids in the vocabulary of the model.
        offsets: Start and end character (exclusive) of each token, shape (tokens, 2).
        special: True for tokens that the tokenizer added, shape (tokens,).
        total: Number of tokens of the whole text, without special tokens.
    """

    ids: tuple[int, ...]
    offsets: NDArray[np.int64]
    special: NDArray[np.bool_]
    total: int

    @property
    def kept(self) -> int:
        """The number of tokens after truncation, without special tokens."""
        return int((~self.special).sum())


def tokenize(tokenizer: Tokenizer, texts: Sequence[str], window: int | None) -> list[Tokens]:
    """Tokenize texts and truncate those that are longer than the window.

    Args:
        tokenizer: A fast tokenizer of transformers.
        texts: The texts; equal texts are tokenized once.
        window: Maximum number of tokens per text, special tokens included; None for no limit.

    Returns:
        One entry per text.
    """
    backend = tokenizer.backend_tokenizer
    # A tokenizer file may enable truncation and padding, which would apply silently.
    backend.no_truncation()
    backend.no_padding()
    unique = list(dict.fromkeys(texts))
    encodings = backend.encode_batch(unique)
    by_text = {text: _cut(encoding, window) for text, encoding in zip(unique, encodings, strict=True)}
    return [by_text[text] for text in texts]


def without_prompt(tokens: Tokens, length: int) -> Tokens:
    """Return the tokens of a text that follows a prompt; those of the prompt become special.

    Args:
        tokens: The tokens of prompt and text.
        length: The number of characters of the prompt.

    Returns:
        The same tokens, with offsets in the text.
    """
    before = (tokens.offsets[:, 1] <= length) & ~tokens.special
    offsets = np.maximum(tokens.offsets - length, 0)
    total = tokens.total - int(before.sum())
    return Tokens(tokens.ids, offsets, tokens.special | before, total)


def window_of(model: Model, tokenizer: Tokenizer) -> int | None:
    """Return the context window of a model in tokens, special tokens included; None for no limit."""
    limits = [getattr(model.config, "max_position_embeddings", None)]
    positions: Any = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if getattr(positions, "padding_idx", None) is not None:
        # In RoBERTa models, positions start after the index of the padding token.
        limits.append(positions.num_embeddings - positions.padding_idx - 1)
    limits.append(tokenizer.model_max_length)
    found = [limit for limit in limits if limit and limit < NO_LIMIT]
    return min(found, default=None)


def _cut(encoding: Encoding, window: int | None) -> Tokens:
    ids = np.array(encoding.ids, dtype=np.int64)
    offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    special = np.array(encoding.special_tokens_mask, dtype=bool)
    total = int((~special).sum())
    if window is not None and len(ids) > window:
        own = np.flatnonzero(~special)[: max(0, window - int(special.sum()))]
        keep = np.sort(np.concatenate([np.flatnonzero(special), own]))
        ids, offsets, special = ids[keep], offsets[keep], special[keep]
    return Tokens(tuple(ids.tolist()), offsets, special, total)
