"""Copy head: predicts tokens at blanks from the vocabulary or by copying from the context."""

import torch
from torch import nn

from gistmeter.models.fill.pair_batch import NONE, PairBatch

FEATURES = 5


class CopyHead(nn.Module):
    """A mixture of a vocabulary distribution and a pointer into the context, with one softmax over both.

    The pointer (See et al., 2017; sentinel as in Merity et al., 2017) scores each token of the context by its
    state and by whether it has the same neighboring tokens as the blank. The neighbor features speed up the
    training of the head.

    Args:
        width: The dimensions d of the states.
        tokens: The size of the vocabulary.
    """

    def __init__(self, width: int, tokens: int) -> None:
        super().__init__()
        self.transform = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(tokens))
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.sentinel = nn.Linear(width, 1)
        self.weights = nn.Linear(3 * width, FEATURES)
        self.scale = width**-0.5
        nn.init.normal_(self.weights.weight, std=0.02)
        nn.init.constant_(self.weights.bias, 1.0)
        nn.init.constant_(self.sentinel.bias, 1.0)

    def forward(
        self, states: torch.Tensor, memory: torch.Tensor, batch: PairBatch, table: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vocabulary logits and the log-probabilities of the copy choices.

        Args:
            states: States at the blanked tokens, (N, d).
            memory: States of the context tokens, (U, C, d).
            batch: The queries.
            table: Embeddings of the vocabulary, (V, d).

        Returns:
            Logits, (N, V), and log-probabilities, (N, 1 + C): first of the vocabulary (no copy), then of
            copying each token of the context.
        """
        logits = nn.functional.linear(
            self.norm(nn.functional.gelu(self.transform(states))), table, self.bias
        ).float()
        scores = _pointed(self.query(states), self.key(memory), batch.sources)
        near = table[batch.neighbours[:, [0, 2]].clamp(min=0)].flatten(1)
        weights = self.weights(torch.cat([states, near.to(states.dtype)], dim=1)).float()
        scores = scores * self.scale + torch.einsum("nf,ncf->nc", weights, matches(batch).float())
        outside = torch.arange(memory.shape[1], device=memory.device) >= batch.context_lengths[:, None]
        scores = scores.masked_fill(outside[batch.sources], -torch.inf)
        return logits, torch.cat([self.sentinel(states).float(), scores], dim=1).log_softmax(dim=1)


def _pointed(queries: torch.Tensor, keys: torch.Tensor, sources: torch.Tensor) -> torch.Tensor:
    """Return the dot products, (N, C), of each query, (N, d), with the keys of its context, (U, C, d)."""
    if len(keys) == 1:
        return (queries @ keys[0].T).float()
    order = sources.argsort(stable=True)
    counts = torch.bincount(sources, minlength=len(keys)).tolist()
    shares = torch.split(queries[order], counts)
    parts = [own @ key.T for own, key in zip(shares, keys, strict=True)]
    return torch.cat(parts).float()[order.argsort()]


def matches(batch: PairBatch) -> torch.Tensor:
    """Compare the neighbors of each context token with those of each blanked token.

    Returns:
        Booleans, (N, C, 5): the same token before it, the same two tokens before it, the same token after it,
        the same two tokens after it, the same token on both sides. Neighbors are compared at equal distances.
    """
    context = batch.context[batch.sources]
    places = torch.arange(context.shape[1], device=context.device)
    equal = []
    for at in range(4):
        there = places[None] + batch.distances[:, at, None]
        inside = (there >= 0) & (there < batch.context_lengths[batch.sources][:, None])
        token = context.gather(1, there.clamp(0, context.shape[1] - 1))
        wanted = batch.neighbours[:, at, None]
        equal.append(inside & (wanted != NONE) & (token == wanted))
    before, before2, after, after2 = equal
    return torch.stack([before, before & before2, after, after & after2, before & after], dim=2)


def gold_log_probability(logits: torch.Tensor, choices: torch.Tensor, batch: PairBatch) -> torch.Tensor:
    """Return the log-probability of each gold token, (N,), generated or copied."""
    made = logits.log_softmax(dim=1).gather(1, batch.gold[:, None])[:, 0] + choices[:, 0]
    same = batch.context[batch.sources] == batch.gold[:, None]
    copied = choices[:, 1:].masked_fill(~same, -torch.inf).logsumexp(dim=1)
    # Clamp −∞ (no copy possible), so that the gradient of logaddexp is finite.
    return torch.logaddexp(made, copied.clamp(min=-80.0))


def mixed_probabilities(logits: torch.Tensor, choices: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
    """Return the distribution over the vocabulary, (N, V).

    Args:
        logits: Vocabulary logits, (N, V).
        choices: Log-probabilities of the copy choices, (N, 1 + C).
        context: The context token ids of each blanked token, (N, C).
    """
    made = logits.softmax(dim=1) * choices[:, :1].exp()
    return made.scatter_add(1, context, choices[:, 1:].exp())
