"""How similar two sentences are: equations 1 and 2."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from gistmeter.models.encode.cross_encoder import PairScorer
from gistmeter.models.encode.encoder import Encoder

FloatArray = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Block:
    """The sentences of a candidate, and those they are compared with."""

    candidate: tuple[str, ...]
    other: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Similarity:
    """One model's view of one block.

    Args:
        values: Similarity of each candidate sentence with each other one, shape (candidate, other).
        kept: Tokens read of each sentence, the candidate's first, shape (candidate + other,).
        total: Tokens that each sentence has.
    """

    values: FloatArray
    kept: NDArray[np.int64]
    total: NDArray[np.int64]


class SentenceModel(Protocol):
    """Compares sentences."""

    @property
    def identity(self) -> str:
        """What signatures call the model."""

    def compare(self, blocks: Sequence[Block]) -> list[Similarity]:
        """Return one similarity a block."""


@dataclass(frozen=True, slots=True)
class Cosine:
    """Cosine of sentence embeddings: one model's term of equation 1."""

    encoder: Encoder

    @property
    def identity(self) -> str:
        """What signatures call the model."""
        return f"{self.encoder.identity}/{self.encoder.pooling}"

    def compare(self, blocks: Sequence[Block]) -> list[Similarity]:
        """Encode each sentence of the call once, however many blocks share it."""
        sentences = list(dict.fromkeys(s for block in blocks for s in (*block.candidate, *block.other)))
        at = {sentence: row for row, sentence in enumerate(sentences)}
        embedded = self.encoder.embed(sentences)
        kept = np.array([tokens.kept for tokens in embedded.tokens], dtype=np.int64)
        total = np.array([tokens.total for tokens in embedded.tokens], dtype=np.int64)
        similarities = []
        for block in blocks:
            rows = [at[sentence] for sentence in block.candidate]
            columns = [at[sentence] for sentence in block.other]
            values = embedded.vectors[rows] @ embedded.vectors[columns].T
            similarities.append(Similarity(values, kept[rows + columns], total[rows + columns]))
        return similarities


@dataclass(frozen=True, slots=True)
class Cross:
    """A cross-encoder's own score of a sentence pair, in place of the cosine."""

    scorer: PairScorer

    @property
    def identity(self) -> str:
        """What signatures call the model."""
        return self.scorer.identity

    def compare(self, blocks: Sequence[Block]) -> list[Similarity]:
        """Score each sentence pair of the call once."""
        pairs = [(ours, theirs) for block in blocks for ours in block.candidate for theirs in block.other]
        scores = self.scorer.score(pairs)
        similarities, start = [], 0
        for block in blocks:
            shape = (len(block.candidate), len(block.other))
            end = start + shape[0] * shape[1]
            kept, total = (tokens[start:end].reshape(*shape, 2) for tokens in (scores.kept, scores.total))
            # A sentence is cut in some pairs and whole in others: the pair that cost it most speaks.
            similarities.append(
                Similarity(
                    scores.values[start:end].reshape(shape),
                    np.concatenate([kept[..., 0].min(axis=1), kept[..., 1].min(axis=0)]),
                    np.concatenate([total[..., 0].max(axis=1), total[..., 1].max(axis=0)]),
                )
            )
            start = end
        return similarities


def combine(views: Sequence[Similarity], ensemble: Literal["mean", "max"]) -> FloatArray:
    """Combine what several models say of one block.

    Args:
        views: One a model.
        ensemble: `mean` is equation 1, `max` equation 2.

    Returns:
        Similarities of shape (candidate sentences, other sentences).
    """
    stacked = np.stack([view.values for view in views])
    combined: FloatArray = stacked.mean(axis=0) if ensemble == "mean" else stacked.max(axis=0)
    return combined
