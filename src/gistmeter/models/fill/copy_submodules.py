"""Splits a copy infiller into submodules that backends can run: contexts, texts and blanks."""

from dataclasses import fields

import torch

from gistmeter.models.fill.copy_infiller import CopyInfiller
from gistmeter.models.fill.pair_batch import PairBatch
from gistmeter.models.run.submodules import Tensors


class Remember(torch.nn.Module):
    """Encodes contexts for the layers and the head.

    Args:
        infiller: The copy infiller, in evaluation mode.
    """

    def __init__(self, infiller: CopyInfiller) -> None:
        super().__init__()
        self.infiller = infiller

    def forward(self, context: torch.Tensor, lengths: torch.Tensor) -> Tensors:
        """Return the memory, (U, C, d), and each layer's keys and values, (U, heads, C, d / heads).

        Args:
            context: Token ids, (U, C).
            lengths: Number of tokens of each context, (U,).
        """
        memory = self.infiller.remember(_some(context=context, context_lengths=lengths))
        both = self.infiller.keys_and_values(memory)
        return memory, *(tensor for pair in both for tensor in pair)

    def extra_repr(self) -> str:
        """Return the settings that are not weights, for the cache key of conversions."""
        return _facts(self.infiller)


class ReadTexts(Remember):
    """Computes the states of texts that share one context."""

    def forward(  # type: ignore[override] # another submodule of the same infiller
        self, text: torch.Tensor, lengths: torch.Tensor, context_length: torch.Tensor, *memory: torch.Tensor
    ) -> torch.Tensor:
        """Return the states, (B, T, d).

        Args:
            text: Token ids with masks in place of blanked tokens, (B, T).
            lengths: Number of tokens of each text, (B,).
            context_length: Number of tokens of the context, (1,).
            memory: Keys and values of the context, from `Remember`.
        """
        keys = memory[0]
        batch = _some(
            text=text,
            text_lengths=lengths,
            context=keys[:, 0, :, 0],  # only its shape is used
            context_lengths=context_length,
            owners=torch.zeros_like(lengths),
        )
        return self.infiller.read(batch, list(zip(memory[::2], memory[1::2], strict=True)))


class Point(Remember):
    """Runs the copy head at the blanked tokens of texts that share one context."""

    def forward(  # type: ignore[override] # another submodule of the same infiller
        self,
        states: torch.Tensor,
        memory: torch.Tensor,
        context: torch.Tensor,
        context_length: torch.Tensor,
        neighbours: torch.Tensor,
        distances: torch.Tensor,
    ) -> Tensors:
        """Return the output of `CopyHead.forward`: (N, V) and (N, 1 + C).

        Args:
            states: States at the blanked tokens, (N, d).
            memory: Memory of the context, (1, C, d).
            context: Token ids of the context, (1, C).
            context_length: Number of tokens of the context, (1,).
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
        found: Tensors = self.infiller.head(states, memory, batch, self.infiller.table)
        return found


class CopyDummyInputs:
    """Creates dummy inputs for the submodules of an infiller.

    Args:
        infiller: The copy infiller whose sizes the inputs have.
    """

    def __init__(self, infiller: CopyInfiller) -> None:
        self.tokens, self.width = infiller.table.shape
        self.heads, self.layers = infiller.heads, len(infiller.layers)

    def contexts(self, rows: int, tokens: int) -> Tensors:
        """Return inputs for `Remember`; also the first two inputs of `ReadTexts`."""
        ids = torch.randint(0, self.tokens, (rows, tokens), generator=_seeded(rows))
        return ids, torch.arange(tokens - rows + 1, tokens + 1)

    def texts(self, rows: int, tokens: int) -> Tensors:
        """Return inputs for `ReadTexts`."""
        shape = (1, self.heads, 2 * tokens, self.width // self.heads)
        memory = [torch.randn(shape, generator=_seeded(at)) for at in range(2 * self.layers)]
        return *self.contexts(rows, tokens), torch.tensor([2 * tokens - 1]), *memory

    def blanks(self, rows: int, tokens: int) -> Tensors:
        """Return inputs for `Point`."""
        states = torch.randn(rows, self.width, generator=_seeded(rows))
        memory = torch.randn(1, tokens, self.width, generator=_seeded(tokens))
        context = torch.arange(tokens)[None]
        neighbours = torch.randint(-1, tokens, (rows, 4), generator=_seeded(rows))
        distances = torch.tensor([[-1, -2, 1, 2]]).repeat(rows, 1)
        return states, memory, context, torch.tensor([tokens - 1]), neighbours, distances


def _some(**given: torch.Tensor) -> PairBatch:
    """Return a batch in which only the given fields are set."""
    nothing = next(iter(given.values()))[:0]
    return PairBatch(**{field.name: given.get(field.name, nothing) for field in fields(PairBatch)})


def _facts(infiller: CopyInfiller) -> str:
    return f"heads={infiller.heads}, start={infiller.start}, end={infiller.end}, mask={infiller.mask}"


def _seeded(number: int) -> torch.Generator:
    return torch.Generator().manual_seed(number)
