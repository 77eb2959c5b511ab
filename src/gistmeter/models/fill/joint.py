"""Base class of fillers whose encoder reads the text with its blanks and the context as one sequence."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.fill.adapter import Adapter
from gistmeter.models.fill.positions import blanked, masked_text
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.batching import in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import Submodule, token_rows
from gistmeter.models.run.tokens import window_of
from gistmeter.models.run.types import Model, Tokenizer


@dataclass(frozen=True, slots=True)
class JointRow:
    """The model input of a query.

    Args:
        ids: Token ids of text and context with the special tokens of the pair format.
        types: The segment of each token.
        masked: The positions of the masks.
        context: The position of the first token of the context.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]
    masked: tuple[int, ...]
    context: int


class JointFiller(Adapter):
    """A filler with one window for text and context, one mask per gold sub-word, and one pass for all masks.

    The number of masks reveals the length of the gold text to the model (a length oracle), as in ClozE. Text
    and context are joined in the pair format of the tokenizer, in the order given by the query. A query
    without context is a single text. Subclasses set `states` and implement `_forward`.

    Args:
        model: A model whose `base_model` is the encoder.
        tokenizer: The fast tokenizer of the model.
        identity: The name of the model in error messages.
        runtime: The device, the precision and the backend.

    Raises:
        BadModel: If the model has a decoder, or its tokenizer has no mask token.
    """

    states: Submodule
    """Maps token ids, their mask and optionally their segments to states, (rows, tokens, dimensions)."""

    def __init__(
        self, model: Model, tokenizer: Tokenizer, *, identity: str, runtime: Runtime | None = None
    ) -> None:
        encoder = model.base_model
        if encoder.config.is_encoder_decoder or tokenizer.mask_token is None:
            raise BadModel(f"{identity} is not a masked language model; give a model such as BERT or RoBERTa")
        super().__init__(model, tokenizer, identity=identity, runtime=runtime)
        self.mask_id = self.vocabulary.id(tokenizer.mask_token)
        self.typed = getattr(encoder.config, "type_vocab_size", 0) > 1
        self.window = window_of(encoder, tokenizer)
        self.example = token_rows(encoder.get_input_embeddings().num_embeddings, typed=self.typed)

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
        raise NotImplementedError

    def encode(self, rows: Sequence[JointRow]) -> torch.Tensor:
        """Run the encoder once on all rows and return the states, shape (rows, tokens, dimensions)."""
        ids = [row.ids for row in rows]
        inputs = [pad(ids, self.pad_id, self.device), mask(ids, self.device)]
        if self.typed:
            inputs.append(pad([row.types for row in rows], 0, self.device))
        states: torch.Tensor = self.states(*inputs)
        return states

    def masked_states(self, rows: Sequence[JointRow], states: torch.Tensor) -> torch.Tensor:
        """Return the states at all masks, shape (masks, dimensions)."""
        which = torch.tensor([at for at, row in enumerate(rows) for _ in row.masked], device=self.device)
        where = torch.tensor([at for row in rows for at in row.masked], device=self.device)
        return states[which, where]

    def assemble(self, query: Query) -> JointRow:
        """Join text and context in the order given by the query."""
        text = masked_text(query, self.mask_id)
        if query.context and query.context_first:
            joined = self.vocabulary.join(query.context, text)
            context, start = joined.starts
        else:
            joined = self.vocabulary.join(text, query.context)
            start, context = joined.starts if query.context else (*joined.starts, len(joined.ids))
        return JointRow(joined.ids, joined.types, tuple(start + at for at in blanked(query)), context)
