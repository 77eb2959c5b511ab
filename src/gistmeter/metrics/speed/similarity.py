"""Similarity of sentence pairs, and its combination over models (equations 1 and 2)."""

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
    """Sentences of a candidate, and the sentences they are compared with."""

    candidate: tuple[str, ...]
    other: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Similarity:
    """Similarities that one model assigns to the sentence pairs of a block.

    Args:
        values: Similarity matrix, shape (candidate, other).
        kept: Tokens read of each sentence, candidate sentences first, shape (candidate + other,).
        total: Tokens of each sentence, same shape.
    """

    values: FloatArray
    kept: NDArray[np.int64]
    total: NDArray[np.int64]


class SentenceModel(Protocol):
    """Model that compares sentences."""

    @property
    def identity(self) -> str:
        """Name of the model in signatures."""

    def compare(self, blocks: Sequence[Block]) -> list[Similarity]:
        """Return the similarities of each block."""


@dataclass(frozen=True, slots=True)
class Cosine:
    """Cosine similarity of sentence embeddings: the term of one model in equation 1."""

    encoder: Encoder

    @property
    def identity(self) -> str:
        """Name of the model in signatures."""
        return f"{self.encoder.text_identity}/{self.encoder.pooling}"

    def compare(self, blocks: Sequence[Block]) -> list[Similarity]:
        """Return the similarities of each block; each distinct sentence is encoded once."""
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
    """Pair score of a cross-encoder, used instead of the cosine."""

    scorer: PairScorer

    @property
    def identity(self) -> str:
        """Name of the model in signatures."""
        return self.scorer.identity

    def compare(self, blocks: Sequence[Block]) -> list[Similarity]:
        """Return the similarities of each block; each distinct pair is scored once."""
        pairs = [(ours, theirs) for block in blocks for ours in block.candidate for theirs in block.other]
        scores = self.scorer.score(pairs)
        similarities, start = [], 0
        for block in blocks:
            shape = (len(block.candidate), len(block.other))
            end = start + shape[0] * shape[1]
            kept, total = (tokens[start:end].reshape(*shape, 2) for tokens in (scores.kept, scores.total))
            # Truncation of a sentence depends on its partner: report the pair that keeps the fewest tokens.
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
    """Combine the similarities of several models for one block.

    Args:
        views: Similarities of each model.
        ensemble: `mean` (equation 1) or `max` (equation 2).

    Returns:
        Similarity matrix, shape (candidate sentences, other sentences).
    """
    stacked = np.stack([view.values for view in views])
    combined: FloatArray = stacked.mean(axis=0) if ensemble == "mean" else stacked.max(axis=0)
    return combined
