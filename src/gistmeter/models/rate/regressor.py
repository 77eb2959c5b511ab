"""SUM-QE model: encoders with a linear regressor per quality (Xenouleas et al., 2019)."""

from collections.abc import Sequence
from typing import Literal

import torch

from gistmeter.models.run.types import Model

Flavour = Literal["s1", "m1", "m5"]


class QualityRegressor(torch.nn.Module):
    """Encoders E and regressors R (equations 1 to 4).

    Args:
        encoders: Modules that map token ids and their attention mask to vectors h, shape (rows, width): one
            encoder for all heads, or one per head.
        width: The width of h.
        sizes: The number of outputs of each head. One head with five outputs is M-1; five heads with one
            output are M-5, or S-1 if each head has its own encoder.
    """

    def __init__(self, encoders: Sequence[torch.nn.Module], width: int, sizes: Sequence[int]) -> None:
        super().__init__()
        self.encoders = torch.nn.ModuleList(encoders)
        self.heads = torch.nn.ModuleList(torch.nn.Linear(width, size) for size in sizes)

    def forward(self, ids: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """Return one value per row and quality, shape (rows, qualities)."""
        texts = [encoder(ids, attention) for encoder in self.encoders]
        return torch.cat([_rated(head, texts[at % len(texts)]) for at, head in enumerate(self.heads)], dim=1)


def _rated(head: Model, texts: torch.Tensor) -> torch.Tensor:
    # In bfloat16, ratings from 1 to 5 would be multiples of 1/64.
    return torch.nn.functional.linear(texts.float(), head.weight.float(), head.bias.float())


class FirstState(torch.nn.Module):
    """Encodes a text as the last hidden state of its first token, [CLS].

    Args:
        encoder: A transformers encoder with a `last_hidden_state`; its pooler is not used.
    """

    def __init__(self, encoder: Model) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """Return h, shape (rows, width)."""
        states: torch.Tensor = self.encoder(input_ids=ids, attention_mask=attention).last_hidden_state
        return states[:, 0]
