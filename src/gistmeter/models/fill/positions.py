"""What a model says at chosen positions, read from its vocabulary head a few positions at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from gistmeter.models.fill.protocol import Fill, Query

Head = Callable[[torch.Tensor], torch.Tensor]
Decode = Callable[[Sequence[int]], str]
CUT = "\ufffd"
"""What a character that was cut between two tokens is decoded to."""
MOST_LOGITS = 2**24
"""Numbers held at once: 64 MB in float32, whatever the size of the vocabulary."""


@dataclass(frozen=True, slots=True)
class PositionPredictions:
    """What the model says at some positions; every list has one entry a position.

    Args:
        predicted: The most probable token.
        predicted_probabilities: Its probability.
        gold_probabilities: Of the gold token.
        gold_ranks: 1 + the number of tokens that are more probable than the gold one.
    """

    predicted: list[int]
    predicted_probabilities: list[float]
    gold_probabilities: list[float]
    gold_ranks: list[int]


def masked_text(query: Query, mask_id: int) -> tuple[int, ...]:
    """Return the query's text with a mask in place of every token of its blanks."""
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
    """Read predictions and gold tokens at positions.

    Args:
        states: The model's last states at the positions, shape (positions, dimensions).
        head: Turns states into logits, shape (positions, vocabulary).
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
        step = max(1, MOST_LOGITS // logits.shape[-1])  # known from the first position on
    return readings


def same_text(predicted: Sequence[int], gold: Sequence[int], decode: Decode) -> bool:
    """Tell whether tokens stand for the same text, under lower-casing.

    Tokens that stand for no text of their own (unknown words, parts of a character) must be the same tokens.
    """
    if tuple(predicted) == tuple(gold):
        return True
    text = decode(gold).lower()
    return text != "" and CUT not in text and decode(predicted).lower() == text


def fills_of(queries: Sequence[Query], readings: PositionPredictions, decode: Decode) -> list[list[Fill]]:
    """Turn readings at the blanked tokens, each predicted by itself, into the fills of their queries.

    Args:
        queries: In the order of the readings.
        readings: One a blanked token.
        decode: Turns token ids into text.
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
