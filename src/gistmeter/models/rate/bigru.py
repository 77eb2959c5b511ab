"""The encoder of SUM-QE's own baseline: stacked bidirectional GRUs with self-attention (section 4.2)."""

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BiGru(torch.nn.Module):
    """Sums context-aware token vectors, each weighted by its attention: h = Σ a_i h_i.

    The paper's word vectors are GloVe's; here they are the frozen token embeddings of another model, whose
    tokenizer comes with them.

    Args:
        embeddings: A table of token vectors, shape (vocabulary, dimensions); frozen.
        hidden: Width of each direction.
        layers: How many are stacked; from the second on, each adds to what the one below it says.
        dropout: Share of the numbers that is dropped in training, between layers.
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
        return h.float()
