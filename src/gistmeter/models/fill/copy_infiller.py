"""Copy infiller: a small model that fills blanks in one text of a pair from the other text."""

import copy
from typing import Any

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from gistmeter.models.fill.copy_head import CopyHead
from gistmeter.models.fill.pair_batch import PairBatch
from gistmeter.models.run.types import Model

IDENTITY_SHARE = 4.0
"""Factor of the token embedding that is added to the projected state, because embeddings have small norms."""
KeysAndValues = tuple[torch.Tensor, torch.Tensor]


class CopyInfiller(nn.Module):
    """A frozen context encoder, trainable layers that read the text with blanks, and a copy head.

    The layers are initialized from the first layers of the encoder, plus cross-attention to the context that
    is initialized to zero. The layers, the mask embedding, the projection of the context states and the head
    are trained.

    Args:
        base: A transformers BERT with absolute positions (MiniLM); its weights are not changed.
        layers: The number of layers that read the text.
        specials: Ids of the start token, the end token and the mask token.
    """

    def __init__(self, base: Model, *, layers: int, specials: tuple[int, int, int]) -> None:
        from transformers.models.bert import modeling_bert

        super().__init__()
        config = copy.deepcopy(base.config)
        config.is_decoder = config.add_cross_attention = True
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
        self.embeddings: Any = base.embeddings.requires_grad_(False)
        self.encoder: Any = base.encoder.requires_grad_(False)
        layer_of: Any = modeling_bert.BertLayer  # transformers does not annotate its constructor
        self.layers: Any = nn.ModuleList(layer_of(config) for _ in range(layers))
        for at, origin in enumerate(base.encoder.layer[:layers]):
            layer: Any = self.layers[at]
            layer.load_state_dict(origin.state_dict(), strict=False)
            new = layer.crossattention.output.dense
            nn.init.zeros_(new.weight)
            nn.init.zeros_(new.bias)
        self.heads, self.width = config.num_attention_heads, config.hidden_size
        self.memory = nn.Linear(self.width, self.width)
        self.memory_norm = nn.LayerNorm(self.width)
        self.head = CopyHead(self.width, config.vocab_size)
        self.start, self.end, self.mask = specials
        self.mask_vector = nn.Parameter(self.table[self.mask].detach().clone())

    @property
    def table(self) -> torch.Tensor:
        """The embeddings of the vocabulary, (V, d)."""
        weight: torch.Tensor = self.embeddings.word_embeddings.weight
        return weight

    def train(self, mode: bool = True) -> "CopyInfiller":
        """Set training mode for the trained parts; the frozen parts stay in evaluation mode."""
        super().train(mode)
        self.embeddings.train(False)
        self.encoder.train(False)
        return self

    def forward(self, batch: PairBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the output of the copy head for each blanked token; see `CopyHead.forward`."""
        memory = self.remember(batch)
        states = self.read(batch, self.keys_and_values(memory))
        return self.point(states, memory, batch)

    def encode(self, batch: PairBatch) -> torch.Tensor:
        """Return the frozen encoder's states of the context tokens, (U, C, d), without gradients."""
        with torch.no_grad():
            return self._encode(batch)

    def _encode(self, batch: PairBatch) -> torch.Tensor:
        context, lengths = batch.context, batch.context_lengths
        ids = torch.zeros(context.shape[0], context.shape[1] + 2, dtype=torch.long, device=context.device)
        ids[:, 1:-1] = context
        ids[:, 0] = self.start
        ids[torch.arange(ids.shape[0], device=ids.device), lengths + 1] = self.end
        states: torch.Tensor = self.embeddings(input_ids=ids)
        hidden = _hidden(lengths + 2, ids.shape[1], states)
        for layer in self.encoder.layer:
            states = layer(states, hidden)
        return states[:, 1:-1]

    def remember(self, batch: PairBatch) -> torch.Tensor:
        """Return the context memory for the layers and the head, (U, C, d)."""
        own = self.embeddings.word_embeddings(batch.context)
        memory: torch.Tensor = self.memory_norm(self.memory(self.encode(batch)) + own * IDENTITY_SHARE)
        return memory

    def keys_and_values(self, memory: torch.Tensor) -> list[KeysAndValues]:
        """Return the cross-attention keys and values of each layer, (U, heads, C, d / heads)."""
        return [
            (
                self._split(layer.crossattention.self.key(memory)),
                self._split(layer.crossattention.self.value(memory)),
            )
            for layer in self.layers
        ]

    def read(self, batch: PairBatch, memory: list[KeysAndValues]) -> torch.Tensor:
        """Return the states of the text tokens, (B, T, d)."""
        vectors = self.embeddings.word_embeddings(batch.text)
        vectors = torch.where(
            (batch.text == self.mask)[..., None], self.mask_vector.to(vectors.dtype), vectors
        )
        states: torch.Tensor = self.embeddings(inputs_embeds=vectors)
        own = _hidden(batch.text_lengths, batch.text.shape[1], states)
        other = _hidden(batch.context_lengths, batch.context.shape[1], states)
        for layer, both in zip(self.layers, memory, strict=True):
            states = layer.attention(states, own)[0]
            states = self._look(layer.crossattention, states, both, other, batch.owners)
            states = layer.feed_forward_chunk(states)
        return states

    def point(
        self, states: torch.Tensor, memory: torch.Tensor, batch: PairBatch
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the output of the head at the blanked tokens."""
        found: tuple[torch.Tensor, torch.Tensor] = self.head(
            states[batch.rows, batch.places], memory, batch, self.table
        )
        return found

    def _look(
        self,
        attention: Model,
        states: torch.Tensor,
        memory: KeysAndValues,
        hidden: torch.Tensor,
        owners: torch.Tensor,
    ) -> torch.Tensor:
        """Attend to the contexts; if there is only one, concatenate the queries to avoid copies."""
        keys, values = memory
        queries = attention.self.query(states)
        shape = queries.shape
        if len(keys) == 1:
            queries = queries.reshape(1, -1, self.width)
        else:
            keys, values, hidden = keys[owners], values[owners], hidden[owners]
        seen = scaled_dot_product_attention(self._split(queries), keys, values, attn_mask=hidden)
        merged: torch.Tensor = attention.output(seen.transpose(1, 2).reshape(shape), states)
        return merged

    def _split(self, states: torch.Tensor) -> torch.Tensor:
        """Split the dimensions among the heads: (B, T, d) to (B, heads, T, d / heads)."""
        return states.view(*states.shape[:2], self.heads, -1).transpose(1, 2)


def _hidden(lengths: torch.Tensor, longest: int, like: torch.Tensor) -> torch.Tensor:
    """Return the additive attention mask, (B, 1, 1, longest): a large negative number for padding."""
    padding = torch.arange(longest, device=lengths.device) >= lengths[:, None]
    # The precision of the attention scores, so that nothing is upcast: bf16 under autocast.
    kind = torch.bfloat16 if torch.is_autocast_enabled(like.device.type) else like.dtype
    return (padding * -1e4).to(kind)[:, None, None, :]
