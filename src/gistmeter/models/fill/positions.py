"""Computes the predictions of a model at given positions, in steps to limit memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from gistmeter.models.fill.protocol import Fill, Query

Head = Callable[[torch.Tensor], torch.Tensor]
Decode = Callable[[Sequence[int]], str]
CUT = "\ufffd"
"""The decoded text of a character that is split between two tokens."""
MOST_LOGITS = 2**24
"""Maximum number of logits in memory: 64 MB in float32, independent of the size of the vocabulary."""


@dataclass(frozen=True, slots=True)
class PositionPredictions:
    """Predictions of a model; each list has one entry per position.

    Args:
        predicted: The most probable token.
        predicted_probabilities: The probability of the most probable token.
        gold_probabilities: The probability of the gold token.
        gold_ranks: The rank of the gold token: 1 + the number of more probable tokens.
    """

    predicted: list[int]
    predicted_probabilities: list[float]
    gold_probabilities: list[float]
    gold_ranks: list[int]


def masked_text(query: Query, mask_id: int) -> tuple[int, ...]:
    """Return the text of the query with every token in its blanks replaced by a mask."""
    text = list(query.text)
    for at in blanked(query):
        text[at] = mask_id
    return tuple(text)


def blanked(query: Query) -> list[int]:
    """Return the indices of the tokens in the query's blanks, in order."""
    return [at for start, end in query.blanks for at in range(start, end)]


def gold_tokens(query: Query) -> list[int]:
    """Return the tokens in the query's blanks, in order."""
    return [query.text[at] for at in blanked(query)]


def read_positions(states: torch.Tensor, head: Head, gold: Sequence[int]) -> PositionPredictions:
    """Compute the predictions and the gold probabilities at positions.

    Args:
        states: Last hidden states at the positions, shape (positions, dimensions).
        head: Maps states to logits, shape (positions, vocabulary).
        gold: The gold token at each position.
    """
    readings = PositionPredictions([], [], [], [])
    wanted = torch.tensor(gold, dtype=torch.long, device=states.device)
    start, step = 0, 1
    while start < len(gold):
        logits = head(states[start : start + step]).float()
        target = wanted[start : start + step]
        scale = logits.logsumexp(dim=-1)
        best, predicted = logits.max(dim=-1)
        own = logits.gather(1, target[:, None])
        readings.predicted.extend(predicted.tolist())
        readings.predicted_probabilities.extend((best - scale).exp().tolist())
        readings.gold_probabilities.extend((own[:, 0] - scale).exp().tolist())
        readings.gold_ranks.extend(((logits > own).sum(dim=-1) + 1).tolist())
        start += step
        step = max(
            1, MOST_LOGITS // logits.shape[-1]
        )  # the size of the vocabulary is known after the first position
    return readings


def same_text(predicted: Sequence[int], gold: Sequence[int], decode: Decode) -> bool:
    """Return whether token sequences have the same text, ignoring case.

    Sequences without text of their own (unknown words, parts of a character) must have the same tokens.
    """
    if tuple(predicted) == tuple(gold):
        return True
    text = decode(gold).lower()
    return text != "" and CUT not in text and decode(predicted).lower() == text


def fills_of(queries: Sequence[Query], readings: PositionPredictions, decode: Decode) -> list[list[Fill]]:
    """Group predictions of independently predicted tokens into the fills of their queries.

    Args:
        queries: The queries, in the order of the predictions.
        readings: The predictions, one per blanked token.
        decode: Maps token ids to text.
    """
    results, at = [], 0
    for query in queries:
        fills = []
        for start, end in query.blanks:
            part = slice(at, at + end - start)
            predicted = tuple(readings.predicted[part])
            fills.append(
                Fill(
                    predicted=predicted,
                    matches=same_text(predicted, query.text[start:end], decode),
                    predicted_probabilities=tuple(readings.predicted_probabilities[part]),
                    gold_probabilities=tuple(readings.gold_probabilities[part]),
                    gold_ranks=tuple(readings.gold_ranks[part]),
                )
            )
            at = part.stop
        results.append(fills)
    return results
