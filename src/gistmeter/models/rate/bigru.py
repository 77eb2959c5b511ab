"""Encoder of the SUM-QE baseline: stacked bidirectional GRUs with self-attention (section 4.2)."""

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BiGru(torch.nn.Module):
    """Computes the attention-weighted sum of contextual token vectors: h = Σ a_i h_i.

    The paper uses GloVe word vectors; this class uses the frozen token embeddings of another model with its
    tokenizer.

    Args:
        embeddings: The frozen token embeddings, shape (vocabulary, dimensions).
        hidden: The width of each direction.
        layers: The number of stacked layers, with residual connections from the second layer on.
        dropout: The dropout rate between layers in training, from 0 to 1.
    """

    def __init__(
        self, embeddings: torch.Tensor, *, hidden: int, layers: int = 1, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.embeddings = torch.nn.Embedding(*embeddings.shape)
        self.embeddings.weight = torch.nn.Parameter(embeddings.clone(), requires_grad=False)
        widths = [embeddings.shape[1], *[2 * hidden] * (layers - 1)]
        self.layers = torch.nn.ModuleList(
            torch.nn.GRU(width, hidden, batch_first=True, bidirectional=True) for width in widths
        )
        self.attention = torch.nn.Linear(2 * hidden, 1)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, ids: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """Return h, shape (rows, 2 · hidden)."""
        lengths = attention.sum(dim=1).cpu()
        states = self.dropout(self.embeddings(ids))
        for at, layer in enumerate(self.layers):
            packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
            read, _ = pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=ids.shape[1])
            states = self.dropout(read if at == 0 else read + states)
        scores = torch.tanh(self.attention(states)[..., 0]).masked_fill(attention == 0, -torch.inf)
        h: torch.Tensor = (scores.softmax(dim=1).unsqueeze(-1) * states).sum(dim=1)
        return h
