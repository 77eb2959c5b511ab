"""Submodules of a T5 that compute the same values as transformers with less repeated work.

*Encoder*: transformers combines the position bias and the padding mask in every layer, with one number per
token pair, row and head. This module combines them once, which saves a tenth of the time of MaskEval.

*Decoder*, for a few tokens and a long encoded text: transformers projects every encoded token to a key and a
value in every layer. For a few tokens it is cheaper to apply the key projection to their queries and the
value projection to the attended states: q·(Wk h) = (Wkᵀ q)·h and Σ p (Wv h) = Wv (Σ p h) hold exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch.nn.functional import scaled_dot_product_attention

from gistmeter.models.run.submodules import DummyInputs, Tensors, token_rows
from gistmeter.models.run.types import Model


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Encoder output of a batch of texts.

    Args:
        states: Encoder states, shape (texts, longest, dimensions).
        attention: Attention mask, 1 for tokens and 0 for padding, shape (texts, longest).
    """

    states: torch.Tensor
    attention: torch.Tensor

    def rows(self, which: Sequence[int]) -> "Encoded":
        """Return the texts with the given indices."""
        index = torch.tensor(which, device=self.states.device)
        return Encoded(self.states[index], self.attention[index])


class T5Encoder(torch.nn.Module):
    """Computes the last hidden states of a T5 encoder in evaluation mode.

    Args:
        encoder: The encoder of a transformers T5 or mT5.
    """

    def __init__(self, encoder: Model) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """Return the states, shape (texts, tokens, dimensions).

        Args:
            ids: Input ids, shape (texts, tokens).
            attention: Attention mask of the same shape, 1 for tokens and 0 for padding.
        """
        states: torch.Tensor = self.encoder.embed_tokens(ids)
        padding = (attention == 0)[:, None, None, :]
        for block in self.encoder.block:
            itself, feed_forward = block.layer
            if itself.SelfAttention.has_relative_attention_bias:  # the first layer of T5, each layer of UMT5
                bias = _bias(itself.SelfAttention, ids.shape[1], padding)
            states = states + _attend(itself.SelfAttention, itself.layer_norm(states), bias)
            states = feed_forward(states)
        last: torch.Tensor = self.encoder.final_layer_norm(states)
        return last


class T5Decoder(torch.nn.Module):
    """Computes the last hidden states of a T5 decoder in evaluation mode.

    Args:
        decoder: The decoder of a transformers T5 or mT5.
    """

    def __init__(self, decoder: Model) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, ids: torch.Tensor, encoded: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """Return the states, shape (texts, tokens, dimensions).

        Args:
            ids: Input ids including the start token, shape (texts, tokens), padded on the right.
            encoded: Encoder states, shape (texts, longest, dimensions).
            attention: Attention mask of the encoder input, 1 for tokens and 0 for padding, shape (texts,
                longest).
        """
        tokens = ids.shape[1]
        states: torch.Tensor = self.decoder.embed_tokens(ids)
        future = torch.ones(tokens, tokens, dtype=torch.bool, device=ids.device).triu(1)
        padding = (attention == 0)[:, None, :]
        for block in self.decoder.block:
            itself, text, feed_forward = block.layer
            if itself.SelfAttention.has_relative_attention_bias:
                bias = _bias(itself.SelfAttention, tokens, future)
            states = states + _attend(itself.SelfAttention, itself.layer_norm(states), bias)
            states = states + _attend_folded(text.EncDecAttention, text.layer_norm(states), encoded, padding)
            states = feed_forward(states)
        last: torch.Tensor = self.decoder.final_layer_norm(states)
        return last


class T5Head(torch.nn.Module):
    """Maps decoder states to logits.

    Args:
        model: A transformers language model of the T5 family.
    """

    def __init__(self, model: Model) -> None:
        super().__init__()
        config = model.config
        self.table = model.get_output_embeddings()
        # T5 scales the states if the head shares the embedding table; later models set it in the
        # configuration.
        tied = config.model_type == "t5" and config.tie_word_embeddings
        scaled = getattr(config, "scale_decoder_outputs", tied)
        self.scale = config.d_model**-0.5 if scaled else 1.0

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Return the logits, shape (states, vocabulary), of states of shape (states, dimensions)."""
        logits: torch.Tensor = self.table(states * self.scale)
        return logits

    def extra_repr(self) -> str:
        """Return the settings that are not weights, for the cache key of conversions."""
        return f"scale={self.scale}"


def decoder_rows(vocabulary: int, width: int) -> DummyInputs:
    """Return a function that creates decoder inputs: ids, encoder states and their attention mask.

    Args:
        vocabulary: The size of the vocabulary.
        width: The dimensions of the states.
    """
    return partial(_decoder_rows, vocabulary, width)


def _decoder_rows(vocabulary: int, width: int, rows: int, tokens: int) -> Tensors:
    ids, _ = token_rows(vocabulary)(rows, tokens)
    _, attention = token_rows(vocabulary)(rows, 2 * tokens + 1)
    generator = torch.Generator().manual_seed(rows * tokens)
    return ids, torch.randn(*attention.shape, width, generator=generator), attention


def _bias(attention: Model, tokens: int, hidden: torch.Tensor) -> torch.Tensor:
    """Return the position bias, −∞ where hidden, shape (texts or 1, heads, tokens, tokens)."""
    bias: torch.Tensor = attention.compute_bias(tokens, tokens)
    return bias.masked_fill(hidden, -torch.inf)


def _attend(attention: Model, states: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Compute self-attention.

    Args:
        attention: A module with the projections q, k, v and o.
        states: Input states, shape (texts, tokens, dimensions).
        bias: Output of `_bias`, added to the unscaled scores.
    """
    shape = (*states.shape[:2], bias.shape[1], -1)
    queries = attention.q(states).view(shape).transpose(1, 2)
    keys = attention.k(states).view(shape).transpose(1, 2)
    values = attention.v(states).view(shape).transpose(1, 2)
    mixed = scaled_dot_product_attention(queries, keys, values, attn_mask=bias, scale=1.0)
    out: torch.Tensor = attention.o(mixed.transpose(1, 2).flatten(2))
    return out


def _attend_folded(
    attention: Model,
    states: torch.Tensor,
    encoded: torch.Tensor,
    padding: torch.Tensor,
) -> torch.Tensor:
    """Compute cross-attention to an encoded text with folded projections; see the module docstring.

    Args:
        attention: A module with the projections q, k, v and o.
        states: Input states, shape (texts, tokens, dimensions).
        encoded: Encoder states, shape (texts, longest, dimensions).
        padding: True for the padding of `encoded`, shape (texts, 1, longest).
    """
    texts, tokens, width = states.shape
    heads = attention.n_heads
    queries = attention.q(states).view(texts, tokens, heads, -1)
    keys = attention.k.weight.view(heads, -1, width)
    folded = torch.einsum("bthk,hkd->bthd", queries, keys).flatten(1, 2)
    scores = (folded @ encoded.transpose(1, 2)).float().masked_fill(padding, -torch.inf)
    shares = scores.softmax(dim=-1).to(encoded.dtype)
    mixed = (shares @ encoded).view(texts, tokens, heads, width)
    values = torch.einsum("bthd,hkd->bthk", mixed, attention.v.weight.view(heads, -1, width))
    out: torch.Tensor = attention.o(values.flatten(2))
    return out
