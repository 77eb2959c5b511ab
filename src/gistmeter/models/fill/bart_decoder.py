"""BART decoder for texts that share one context, with the context's keys and values computed once."""

from functools import partial
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer, EncoderDecoderCache

from gistmeter.models.run.submodules import DummyInputs, Tensors, token_rows
from gistmeter.models.run.types import Model


class OnceLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """A cache layer that is written once; OpenVINO cannot convert the usual empty concatenation."""

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        *_: object,
        **__: object,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Store the keys and values of a layer."""
        self.keys, self.values, self.is_initialized = key_states, value_states, True
        return key_states, value_states


class ContextMemory(torch.nn.Module):
    """Computes the cross-attention keys and values of each decoder layer for an encoded context.

    Args:
        decoder: The decoder of a transformers BART or related model.
        start: Any token id; the decoder needs one input token.
    """

    def __init__(self, decoder: Model, start: int) -> None:
        super().__init__()
        self.decoder = decoder
        self.start = start

    def forward(self, context: torch.Tensor) -> Tensors:
        """Return keys and values, layer by layer, each of shape (1, heads, tokens, dimensions / heads).

        Args:
            context: The encoder states of the context, shape (1, tokens, dimensions).
        """
        start = torch.full((1, 1), self.start, device=context.device)
        memory: Any = EncoderDecoderCache(_once(), _once())
        self.decoder(input_ids=start, encoder_hidden_states=context, past_key_values=memory, use_cache=True)
        layers = memory.cross_attention_cache.layers
        return tuple(tensor for layer in layers for tensor in (layer.keys, layer.values))


class AlignedDecoder(torch.nn.Module):
    """Computes the last hidden states of a decoder for texts that share one context.

    Args:
        decoder: The decoder of a transformers BART or related model.
    """

    def __init__(self, decoder: Model) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, ids: torch.Tensor, *memory: torch.Tensor) -> torch.Tensor:
        """Return the states, shape (texts, tokens, dimensions).

        Args:
            ids: Input ids of the decoder, shape (texts, tokens), padded on the right.
            memory: The output of `ContextMemory`.
        """
        rows = ids.shape[0]
        shared: Any = _once()
        for at, (keys, values) in enumerate(zip(memory[::2], memory[1::2], strict=True)):
            shared.update(keys, values, at)
            # All rows share them; PyTorch expands without copying.
            shared.layers[at].keys = keys.expand(rows, -1, -1, -1)
            shared.layers[at].values = values.expand(rows, -1, -1, -1)
        states: torch.Tensor = self.decoder(
            input_ids=ids,
            # Only enables cross-attention; keys and values come from the cache.
            encoder_hidden_states=memory[0].new_zeros(1, 1, self.decoder.config.d_model),
            past_key_values=EncoderDecoderCache(_once(), shared),
            use_cache=True,
        ).last_hidden_state
        return states


class AlignedHead(torch.nn.Module):
    """Maps decoder states to logits.

    Args:
        model: A transformers encoder-decoder language model.
    """

    bias: torch.Tensor | None

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.table = model.get_output_embeddings()
        self.register_buffer("bias", getattr(model, "final_logits_bias", None))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Return the logits, shape (states, vocabulary), of states of shape (states, dimensions)."""
        logits: torch.Tensor = self.table(states)
        return logits if self.bias is None else logits + self.bias


def _once() -> Cache:
    return Cache(layer_class_to_replicate=OnceLayer)


def context_rows(width: int) -> DummyInputs:
    """Return a function that creates one encoded context, shape (1, tokens, dimensions)."""
    return partial(_context_rows, width)


def about_context(vocabulary: int, layers: int, heads: int, width: int) -> DummyInputs:
    """Return a function that creates texts and the keys and values of a context.

    Args:
        vocabulary: The size of the vocabulary.
        layers: The number of decoder layers.
        heads: The number of heads per layer.
        width: The dimensions of the states.
    """
    return partial(_about_context, vocabulary, layers, (heads, width // heads))


def _context_rows(width: int, rows: int, tokens: int) -> Tensors:
    return (torch.randn(1, rows * tokens, width, generator=torch.Generator().manual_seed(tokens)),)


def _about_context(vocabulary: int, layers: int, heads: tuple[int, int], rows: int, tokens: int) -> Tensors:
    generator = torch.Generator().manual_seed(tokens)
    shape = (1, heads[0], 2 * tokens, heads[1])
    memory = [torch.randn(shape, generator=generator) for _ in range(2 * layers)]
    return (token_rows(vocabulary)(rows, tokens)[0], *memory)
