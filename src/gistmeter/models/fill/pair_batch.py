"""Queries of a pair filler as tensors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.batching import pad

NONE = -1
"""Stands for a neighbour that a blank does not have."""


@dataclass(frozen=True, slots=True, eq=False)
class PairBatch:
    """B queries with N blanked tokens in all, texts of at most T tokens, U contexts of at most C.

    Args:
        text: Token ids with masks in place of blanked tokens, (B, T).
        text_lengths: Tokens of each text, (B,).
        context: Token ids, (U, C).
        context_lengths: Tokens of each context, (U,).
        owners: The context of each text, (B,).
        context_first: Whether the context stands before the text, (B,).
        rows: The query of each blanked token, (N,).
        places: Its position in the text, (N,).
        gold: The token that stands there, (N,).
        neighbours: The nearest two tokens before its blank and the nearest two after it, (N, 4): first and
            second before, first and second after; -1 for none.
        distances: How far each of them is, (N, 4): negative before, positive after.
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
        """The context of each blanked token, (N,)."""
        return self.owners[self.rows]

    def at(self, part: slice) -> "PairBatch":
        """Return the batch with only some of its blanked tokens."""
        names = ("rows", "places", "gold", "neighbours", "distances")
        return replace(self, **{name: getattr(self, name)[part] for name in names})


def pair_batch(queries: Sequence[Query], *, mask_id: int, pad_id: int, device: torch.device) -> PairBatch:
    """Put queries into tensors. Every query has a blank."""
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
    """Return the token at a place; none outside the text and under another mask."""
    return text[at] if 0 <= at < len(text) and text[at] != mask_id else NONE
