"""Filling by encoder-decoders read position by position, as ClozE does with BART.

The encoder reads the context, the decoder the text with one mask a gold sub-word (a length oracle); what is
predicted for a mask is read at the mask's own position, without the usual shift, and the decoder keeps its
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
    """An encoder-decoder whose decoder is read at the masks themselves: BART and its kin.

    A context is encoded once a call, however many queries share it, and the keys and values that the decoder
    makes of it are computed once. The order of text and context means nothing here: each has its own half.

    Args:
        model: An encoder-decoder language model of transformers.
        tokenizer: The fast tokenizer that belongs to it.
        identity: What signatures call the model; the format, the window and the precision are added.
        runtime: Where and how to run.

    Raises:
        BadModel: If the model has no decoder, or its tokenizer no mask.
    """

    architecture = "AutoModelForSeq2SeqLM"

    def __init__(
        self, model: Model, tokenizer: Tokenizer, *, identity: str, runtime: Runtime | None = None
    ) -> None:
        if not model.config.is_encoder_decoder or tokenizer.mask_token is None:
            raise BadModel(f"{identity} is no encoder-decoder with a mask")
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
        """Answer all queries of a context whose encoder states, shape (1, tokens, dimensions), are given."""
        memory: Tensors = self.memory(context.contiguous())
        runtime = replace(self.runtime, progress=False)  # the bar counts contexts
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
        """Run encoder and decoder over all queries, each with its own context, as training does.

        Returns:
            The states at all masks, shape (masks, dimensions), and what turns them into logits.
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
        """Run the decoder over the masked texts; return its states at all masks, shape (masks, dimensions).

        Args:
            queries: One text each.
            decode: Turns padded ids into states.
        """
        texts = [self.vocabulary.join(masked_text(query, self.mask_id)) for query in queries]
        hidden = [
            [text.starts[0] + at for at in blanked(query)] for text, query in zip(texts, queries, strict=True)
        ]
        states = decode(pad([text.ids for text in texts], self.pad_id, self.device))
        which = torch.tensor([at for at, row in enumerate(hidden) for _ in row], device=self.device)
        where = torch.tensor([at for row in hidden for at in row], device=self.device)
        return states[which, where]
