"""Fills blanks with encoder-decoders that predict at the mask positions, as ClozE does with BART.

The encoder reads the context. The decoder reads the text with one mask per gold sub-word (a length oracle).
The prediction for a mask is read at the position of the mask, without the usual shift. The decoder keeps its
causal mask: it sees the text up to the mask and the whole context.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from gistmeter.core.errors import BadModel
from gistmeter.models.fill.bart_decoder import (
    AlignedDecoder,
    AlignedHead,
    ContextMemory,
    about_context,
    context_rows,
)
from gistmeter.models.fill.contexts import ContextFiller, Group, text_length
from gistmeter.models.fill.positions import Head, blanked, fills_of, gold_tokens, masked_text, read_positions
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.batching import in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import States, Tensors, state_rows, token_rows
from gistmeter.models.run.tokens import window_of
from gistmeter.models.run.types import Model, Tokenizer


class AlignedFiller(ContextFiller):
    """Fills blanks with an encoder-decoder that predicts at the mask positions: BART and related models.

    Each call encodes a context once for all its queries, and computes the decoder's keys and values for it
    once. The order of text and context has no effect, because the encoder reads one and the decoder the
    other.

    Args:
        model: A transformers encoder-decoder language model.
        tokenizer: The fast tokenizer of the model.
        identity: The name of the model in signatures; the format, the window and the precision are appended.
        runtime: The device, the precision and the backend.

    Raises:
        BadModel: If the model has no decoder, or its tokenizer has no mask token.
    """

    architecture = "AutoModelForSeq2SeqLM"

    def __init__(
        self, model: Model, tokenizer: Tokenizer, *, identity: str, runtime: Runtime | None = None
    ) -> None:
        if not model.config.is_encoder_decoder or tokenizer.mask_token is None:
            raise BadModel(f"{identity} is not an encoder-decoder with a mask token; give a BART model")
        super().__init__(model, tokenizer, identity=identity, runtime=runtime)
        self.mask_id = self.vocabulary.id(tokenizer.mask_token)
        self.window = window_of(model, tokenizer)
        config, decoder = model.config, model.get_decoder()
        size, width = model.get_input_embeddings().num_embeddings, config.d_model
        texts = about_context(size, config.decoder_layers, config.decoder_attention_heads, width)
        self.encoder = self.place(States(model.get_encoder()), token_rows(size))
        self.memory = self.place(ContextMemory(decoder, self.pad_id), context_rows(width))
        self.decoder = self.place(AlignedDecoder(decoder), texts)
        self.head = self.place(AlignedHead(model), state_rows(width))
        self.identity = f"{identity}/aligned-gold-length/{self.window}/{self.runtime.precision}"

    def _fill_groups(self, batch: list[Group]) -> list[list[list[Fill]]]:
        rows = [self.vocabulary.join(group.context).ids for group in batch]
        states = self.encoder(pad(rows, self.pad_id, self.device), mask(rows, self.device))
        return [
            self._fill_group(group, states[at : at + 1, : len(row)])
            for at, (group, row) in enumerate(zip(batch, rows, strict=True))
        ]

    def _fill_group(self, group: Group, context: torch.Tensor) -> list[list[Fill]]:
        """Fill all queries of a context, given its encoder states of shape (1, tokens, dimensions)."""
        memory: Tensors = self.memory(context.contiguous())
        runtime = replace(self.runtime, progress=False)  # the outer progress bar counts contexts
        return in_batches(
            group.queries,
            lambda batch: self._decode(batch, memory),
            length=text_length,
            runtime=runtime,
        )

    def _decode(self, batch: list[Query], memory: Tensors) -> list[list[Fill]]:
        gold = [token for query in batch for token in gold_tokens(query)]
        states = self._at_masks(batch, lambda ids: self.decoder(ids, *memory))
        return fills_of(batch, read_positions(states, self.head, gold), self.decode)

    def read(self, queries: Sequence[Query]) -> tuple[torch.Tensor, Head]:
        """Run the encoder and the decoder on all queries, each with its own context, as in training.

        Returns:
            The states at all masks, shape (masks, dimensions), and the head that maps states to logits.
        """
        rows = [self.vocabulary.join(query.context).ids for query in queries]
        attention = mask(rows, self.device)
        inputs = {"input_ids": pad(rows, self.pad_id, self.device), "attention_mask": attention}
        about = {
            "encoder_hidden_states": self.model.get_encoder()(**inputs).last_hidden_state,
            "encoder_attention_mask": attention,
            "use_cache": False,
        }
        decoder = self.model.get_decoder()
        states = self._at_masks(queries, lambda ids: decoder(input_ids=ids, **about).last_hidden_state)
        return states, self.head

    def _at_masks(
        self, queries: Sequence[Query], decode: Callable[[torch.Tensor], torch.Tensor]
    ) -> torch.Tensor:
        """Run the decoder on the masked texts; return its states at all masks, shape (masks, dimensions).

        Args:
            queries: The queries, with one text each.
            decode: Maps padded token ids to states.
        """
        texts = [self.vocabulary.join(masked_text(query, self.mask_id)) for query in queries]
        hidden = [
            [text.starts[0] + at for at in blanked(query)] for text, query in zip(texts, queries, strict=True)
        ]
        states = decode(pad([text.ids for text in texts], self.pad_id, self.device))
        which = torch.tensor([at for at, row in enumerate(hidden) for _ in row], device=self.device)
        where = torch.tensor([at for row in hidden for at in row], device=self.device)
        return states[which, where]
