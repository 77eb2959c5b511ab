"""Fills blanks with masked language models: one mask per gold sub-word, all predicted in one pass.

The number of masks reveals the length of the gold text to the model (a length oracle), as in ClozE.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.fill.adapter import Adapter
from gistmeter.models.fill.positions import Head, blanked, fills_of, gold_tokens, masked_text, read_positions
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.batching import in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import Logits, States, state_rows, token_rows
from gistmeter.models.run.tokens import window_of
from gistmeter.models.run.types import Model, Tokenizer

HEADS = ("cls", "lm_head", "predictions")
"""Names of the submodule that maps states to logits, in BERT, RoBERTa, ALBERT and related models."""


@dataclass(frozen=True, slots=True)
class _Row:
    """The model input of a query and the positions of its masks."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    masked: tuple[int, ...]


class MaskedFiller(Adapter):
    """Fills blanks with a masked language model: BERT, RoBERTa, XLM-R, MiniLM with a head, and others.

    Text and context are joined in the pair format of the tokenizer, in the order given by the query. A query
    without context is a single text. Logits are computed only at the masks.

    Args:
        model: A transformers masked language model.
        tokenizer: The fast tokenizer of the model.
        identity: The name of the model in signatures; the format, the window and the precision are appended.
        runtime: The device, the precision and the backend.

    Raises:
        BadModel: If the model has a decoder, or its tokenizer has no mask token.
    """

    architecture = "AutoModelForMaskedLM"

    def __init__(
        self, model: Model, tokenizer: Tokenizer, *, identity: str, runtime: Runtime | None = None
    ) -> None:
        if model.config.is_encoder_decoder or tokenizer.mask_token is None:
            raise BadModel(f"{identity} is not a masked language model; give a model such as BERT or RoBERTa")
        super().__init__(model, tokenizer, identity=identity, runtime=runtime)
        self.mask_id = self.vocabulary.id(tokenizer.mask_token)
        self.typed = getattr(model.config, "type_vocab_size", 0) > 1
        self.window = window_of(model.base_model, tokenizer)
        example = token_rows(model.get_input_embeddings().num_embeddings, typed=self.typed)
        submodules = dict(model.named_children())
        head = next((submodules[name] for name in HEADS if name in submodules), None)
        if head is None:  # the head has another name: compute the logits at all positions
            self.states = self.place(Logits(model), example)
            self.head: Head = torch.nn.Identity()
        else:
            self.states = self.place(States(model.base_model), example)
            self.head = self.place(head, state_rows(model.config.hidden_size))
        self.identity = f"{identity}/masked-gold-length/{self.window}/{self.runtime.precision}"

    def overhead(self, query_blanks: int) -> int:
        """Return the number of tokens that the format adds to a query."""
        return self.vocabulary.added(2)

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        """Return one fill per blank for each query, in input order. Equal queries run once.

        Raises:
            UsageError: If a query exceeds the window.
        """
        longest = max(map(len, queries), default=0) + self.overhead(1)
        if self.window is not None and longest > self.window:
            raise UsageError(
                f"a query of {longest} tokens exceeds the window of {self.window} tokens; use shorter texts"
            )
        return in_batches(queries, self._forward, length=len, runtime=self.runtime, label="filling")

    def _forward(self, batch: list[Query]) -> list[list[Fill]]:
        states, head = self.read(batch)
        gold = [token for query in batch for token in gold_tokens(query)]
        return fills_of(batch, read_positions(states, head, gold), self.decode)

    def read(self, queries: Sequence[Query]) -> tuple[torch.Tensor, Head]:
        """Run the model once on all queries, for filling and for training.

        Returns:
            The states at all masks, shape (masks, dimensions), and the head that maps states to logits.
        """
        rows = [self._assemble(query) for query in queries]
        ids = [row.ids for row in rows]
        inputs = [pad(ids, self.pad_id, self.device), mask(ids, self.device)]
        if self.typed:
            inputs.append(pad([row.types for row in rows], 0, self.device))
        which = torch.tensor([at for at, row in enumerate(rows) for _ in row.masked], device=self.device)
        where = torch.tensor([at for row in rows for at in row.masked], device=self.device)
        return self.states(*inputs)[which, where], self.head

    def _assemble(self, query: Query) -> _Row:
        text = masked_text(query, self.mask_id)
        second = bool(query.context) and query.context_first
        joined = self.vocabulary.join(*((query.context, text) if second else (text, query.context)))
        start = joined.starts[1] if second else joined.starts[0]
        return _Row(joined.ids, joined.types, tuple(start + at for at in blanked(query)))
