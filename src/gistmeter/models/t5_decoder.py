"""T5's decoder over a few tokens and a long encoded text.

The library projects every encoded token to a key and a value in every layer. For a handful of tokens it is
cheaper to carry their queries through the projection of the keys, and the attended states through that of the
values: q·(Wk h) = (Wkᵀ q)·h and Σ p (Wv h) = Wv (Σ p h), exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Texts after the encoder.

    Args:
        states: Shape (texts, longest, dimensions).
        attention: 1 on tokens, 0 on padding, shape (texts, longest).
    """

    states: torch.Tensor
    attention: torch.Tensor

    def rows(self, which: Sequence[int]) -> "Encoded":
        """Return some of the texts."""
        index = torch.tensor(which, device=self.states.device)
        return Encoded(self.states[index], self.attention[index])


def decode_states(decoder: Any, ids: torch.Tensor, encoded: Encoded) -> torch.Tensor:  # noqa: ANN401
    """Return the last states of a T5 decoder in evaluation mode.

    Args:
        decoder: The decoder of a T5 or mT5 of transformers.
        ids: What it reads, its start token included, shape (texts, tokens); padding on the right.
        encoded: What it reads about.

    Returns:
        Shape (texts, tokens, dimensions).
    """
    tokens = ids.shape[1]
    states: torch.Tensor = decoder.embed_tokens(ids)
    bias = decoder.block[0].layer[0].SelfAttention.compute_bias(tokens, tokens)
    future = torch.ones(tokens, tokens, dtype=torch.bool, device=ids.device).triu(1)
    bias = bias.masked_fill(future, -torch.inf)
    padding = (encoded.attention == 0)[:, None, :]
    for block in decoder.block:
        itself, text, feed_forward = block.layer
        states = states + _attend(itself.SelfAttention, itself.layer_norm(states), bias)
        states = states + _attend_folded(
            text.EncDecAttention, text.layer_norm(states), encoded.states, padding
        )
        states = feed_forward(states)
    last: torch.Tensor = decoder.final_layer_norm(states)
    return last


def _attend(attention: Any, states: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:  # noqa: ANN401
    """Let tokens attend to each other.

    Args:
        attention: Holds the projections q, k, v and o.
        states: Shape (texts, tokens, dimensions).
        bias: What T5 adds by distance, instead of scaling, shape (1, heads, tokens, tokens).
    """
    shape = (*states.shape[:2], bias.shape[1], -1)
    queries = attention.q(states).view(shape).transpose(1, 2)
    keys = attention.k(states).view(shape).transpose(1, 2)
    values = attention.v(states).view(shape).transpose(1, 2)
    mixed = scaled_dot_product_attention(queries, keys, values, attn_mask=bias, scale=1.0)
    out: torch.Tensor = attention.o(mixed.transpose(1, 2).flatten(2))
    return out


def _attend_folded(
    attention: Any,  # noqa: ANN401
    states: torch.Tensor,
    encoded: torch.Tensor,
    padding: torch.Tensor,
) -> torch.Tensor:
    """Let tokens attend to an encoded text.

    Args:
        attention: Holds the projections q, k, v and o.
        states: Shape (texts, tokens, dimensions).
        encoded: Shape (texts, longest, dimensions).
        padding: True on the padding of `encoded`, shape (texts, 1, longest).
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
