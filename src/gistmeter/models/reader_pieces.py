"""A reader in pieces that each backend can run: contexts, texts about one context, blanks in such texts."""

from dataclasses import fields

import torch

from gistmeter.models.backend import Tensors
from gistmeter.models.pair_batch import PairBatch
from gistmeter.models.reader import Reader


class Remember(torch.nn.Module):
    """What layers and head see of contexts.

    Args:
        reader: In evaluation mode.
    """

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, context: torch.Tensor, lengths: torch.Tensor) -> Tensors:
        """Return the memory, (U, C, d), and each layer's keys and values, (U, heads, C, d / heads).

        Args:
            context: Token ids, (U, C).
            lengths: Tokens of each context, (U,).
        """
        memory = self.reader.remember(_some(context=context, context_lengths=lengths))
        both = self.reader.keys_and_values(memory)
        return memory, *(tensor for pair in both for tensor in pair)

    def extra_repr(self) -> str:
        """Say what the weights do not."""
        return _facts(self.reader)


class ReadTexts(Remember):
    """The states of texts that all ask about one context."""

    def forward(  # type: ignore[override] # another piece of the same reader
        self, text: torch.Tensor, lengths: torch.Tensor, context_length: torch.Tensor, *memory: torch.Tensor
    ) -> torch.Tensor:
        """Return the states, (B, T, d).

        Args:
            text: Token ids with masks in place of blanked tokens, (B, T).
            lengths: Tokens of each text, (B,).
            context_length: Tokens of the context, (1,).
            memory: Keys and values of the context, from `Remember`.
        """
        keys = memory[0]
        batch = _some(
            text=text,
            text_lengths=lengths,
            context=keys[:, 0, :, 0],  # only its shape is looked at
            context_lengths=context_length,
            owners=torch.zeros_like(lengths),
        )
        return self.reader.read(batch, list(zip(memory[::2], memory[1::2], strict=True)))


class Point(Remember):
    """What the head chooses at blanked tokens of texts that all ask about one context."""

    def forward(  # type: ignore[override] # another piece of the same reader
        self,
        states: torch.Tensor,
        memory: torch.Tensor,
        context: torch.Tensor,
        context_length: torch.Tensor,
        neighbours: torch.Tensor,
        distances: torch.Tensor,
    ) -> Tensors:
        """Return what `CopyHead.forward` does: (N, V) and (N, 1 + C).

        Args:
            states: At the blanked tokens, (N, d).
            memory: Of the context, (1, C, d).
            context: Its token ids, (1, C).
            context_length: How many of them there are, (1,).
            neighbours: See `PairBatch`, (N, 4).
            distances: See `PairBatch`, (N, 4).
        """
        nothing = torch.zeros_like(neighbours[:, 0])
        batch = _some(
            context=context,
            context_lengths=context_length,
            owners=nothing,
            rows=nothing,
            neighbours=neighbours,
            distances=distances,
        )
        found: Tensors = self.reader.head(states, memory, batch, self.reader.table)
        return found


class Examples:
    """Inputs for the pieces of a reader.

    Args:
        reader: Whose sizes they have.
    """

    def __init__(self, reader: Reader) -> None:
        self.tokens, self.width = reader.table.shape
        self.heads, self.layers = reader.heads, len(reader.layers)

    def contexts(self, rows: int, tokens: int) -> Tensors:
        """Inputs of `Remember`; also the first two of `ReadTexts`."""
        ids = torch.randint(0, self.tokens, (rows, tokens), generator=_seeded(rows))
        return ids, torch.arange(tokens - rows + 1, tokens + 1)

    def texts(self, rows: int, tokens: int) -> Tensors:
        """Inputs of `ReadTexts`."""
        shape = (1, self.heads, 2 * tokens, self.width // self.heads)
        memory = [torch.randn(shape, generator=_seeded(at)) for at in range(2 * self.layers)]
        return *self.contexts(rows, tokens), torch.tensor([2 * tokens - 1]), *memory

    def blanks(self, rows: int, tokens: int) -> Tensors:
        """Inputs of `Point`."""
        states = torch.randn(rows, self.width, generator=_seeded(rows))
        memory = torch.randn(1, tokens, self.width, generator=_seeded(tokens))
        context = torch.arange(tokens)[None]
        neighbours = torch.randint(-1, tokens, (rows, 4), generator=_seeded(rows))
        distances = torch.tensor([[-1, -2, 1, 2]]).repeat(rows, 1)
        return states, memory, context, torch.tensor([tokens - 1]), neighbours, distances


def _some(**given: torch.Tensor) -> PairBatch:
    """Return a batch of which only some fields are looked at."""
    nothing = next(iter(given.values()))[:0]
    return PairBatch(**{field.name: given.get(field.name, nothing) for field in fields(PairBatch)})


def _facts(reader: Reader) -> str:
    return f"heads={reader.heads}, start={reader.start}, end={reader.end}, mask={reader.mask}"


def _seeded(number: int) -> torch.Generator:
    return torch.Generator().manual_seed(number)
