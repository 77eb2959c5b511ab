"""Batches of queries as tensors, for the copy infiller."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.batching import pad

NONE = -1
"""Marks a missing neighbor of a blank."""


@dataclass(frozen=True, slots=True, eq=False)
class PairBatch:
    """A batch of B queries with N blanked tokens, texts of up to T tokens and U contexts of up to C tokens.

    Args:
        text: Token ids with masks in place of blanked tokens, (B, T).
        text_lengths: Number of tokens of each text, (B,).
        context: Token ids, (U, C).
        context_lengths: Number of tokens of each context, (U,).
        owners: The index of the context of each text, (B,).
        context_first: Whether the context precedes the text, (B,).
        rows: The index of the query of each blanked token, (N,).
        places: The position of each blanked token in its text, (N,).
        gold: The original token at that position, (N,).
        neighbours: The two tokens before the blank and the two tokens after it, (N, 4): first and second
            before, first and second after; -1 if there is none.
        distances: The distance of each neighbor from the blanked token, (N, 4): negative before, positive
            after.
    """

    text: torch.Tensor
    text_lengths: torch.Tensor
    context: torch.Tensor
    context_lengths: torch.Tensor
    owners: torch.Tensor
    context_first: torch.Tensor
    rows: torch.Tensor
    places: torch.Tensor
    gold: torch.Tensor
    neighbours: torch.Tensor
    distances: torch.Tensor

    @property
    def sources(self) -> torch.Tensor:
        """The index of the context of each blanked token, (N,)."""
        return self.owners[self.rows]

    def at(self, part: slice) -> "PairBatch":
        """Return the batch with a slice of its blanked tokens."""
        names = ("rows", "places", "gold", "neighbours", "distances")
        return replace(self, **{name: getattr(self, name)[part] for name in names})


def pair_batch(queries: Sequence[Query], *, mask_id: int, pad_id: int, device: torch.device) -> PairBatch:
    """Convert queries to tensors. Every query must have a blank."""
    texts, rows, places, gold = [], [], [], []
    neighbours: list[list[int]] = []
    distances: list[list[int]] = []
    for row, query in enumerate(queries):
        text = list(query.text)
        for start, end in query.blanks:
            text[start:end] = [mask_id] * (end - start)
        for start, end in query.blanks:
            around = [_at(text, at, mask_id) for at in (start - 1, start - 2, end, end + 1)]
            for at in range(start, end):
                rows.append(row)
                places.append(at)
                gold.append(query.text[at])
                neighbours.append(around)
                distances.append([start - 1 - at, start - 2 - at, end - at, end + 1 - at])
        texts.append(text)
    contexts = {query.context: at for at, query in enumerate({q.context: q for q in queries}.values())}

    def tensor(values: Sequence[object], dtype: torch.dtype = torch.long) -> torch.Tensor:
        return torch.tensor(values, dtype=dtype, device=device)

    return PairBatch(
        pad(texts, pad_id, device),
        tensor([len(text) for text in texts]),
        pad([context or (pad_id,) for context in contexts], pad_id, device),
        tensor([len(context) for context in contexts]),
        tensor([contexts[query.context] for query in queries]),
        tensor([query.context_first for query in queries], torch.bool),
        tensor(rows),
        tensor(places),
        tensor(gold),
        tensor(neighbours),
        tensor(distances),
    )


def _at(text: Sequence[int], at: int, mask_id: int) -> int:
    """Return the token at a position; `NONE` outside the text and at masked positions."""
    return text[at] if 0 <= at < len(text) and text[at] != mask_id else NONE
