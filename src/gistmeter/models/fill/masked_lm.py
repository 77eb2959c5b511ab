"""Fills blanks with masked language models."""

from collections.abc import Sequence

import torch

from gistmeter.models.fill.joint import JointFiller
from gistmeter.models.fill.positions import Head, fills_of, gold_tokens, read_positions
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import Logits, States, state_rows
from gistmeter.models.run.types import Model, Tokenizer

HEADS = ("cls", "lm_head", "predictions")
"""Names of the submodule that maps states to logits, in BERT, RoBERTa, ALBERT and related models."""


class MaskedFiller(JointFiller):
    """Fills blanks with a masked language model: BERT, RoBERTa, XLM-R, MiniLM with a head, and others.

    Logits are computed only at the masks.

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
        super().__init__(model, tokenizer, identity=identity, runtime=runtime)
        submodules = dict(model.named_children())
        head = next((submodules[name] for name in HEADS if name in submodules), None)
        if head is None:  # the head has another name: compute the logits at all positions
            self.states = self.place(Logits(model), self.example)
            self.head: Head = torch.nn.Identity()
        else:
            self.states = self.place(States(model.base_model), self.example)
            self.head = self.place(head, state_rows(model.config.hidden_size))
        self.identity = f"{identity}/masked-gold-length/{self.window}/{self.runtime.precision}"

    def _forward(self, batch: list[Query]) -> list[list[Fill]]:
        states, head = self.read(batch)
        gold = [token for query in batch for token in gold_tokens(query)]
        return fills_of(batch, read_positions(states, head, gold), self.decode)

    def read(self, queries: Sequence[Query]) -> tuple[torch.Tensor, Head]:
        """Run the model once on all queries, for filling and for training.

        Returns:
            The states at all masks, shape (masks, dimensions), and the head that maps states to logits.
        """
        rows = [self.assemble(query) for query in queries]
        return self.masked_states(rows, self.encode(rows)), self.head
