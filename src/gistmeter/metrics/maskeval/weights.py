"""Word weights: uniform, or learned for one quality dimension (MaskEval, section 3.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gistmeter.metrics.maskeval.tokenized import Pair, TokenizedText

FloatArray = NDArray[np.float64]
Ids = tuple[int, ...]

ENOUGH = 1e-9  # tolerance for rounding errors in sums of weights


class Weighting(Protocol):
    """Assigns weights to the words of candidates and sources."""

    @property
    def identity(self) -> str:
        """Name of the weighting in signatures."""

    @property
    def candidate_share(self) -> float:
        """Share of the candidate's side in the score, from 0 to 1; the rest is the source's."""

    def weigh(self, pairs: Sequence[Pair]) -> list[tuple[FloatArray, FloatArray]]:
        """Return the word weights of pairs in which both texts have words.

        Returns:
            For each pair, the weights of the candidate's N words and of the source's M words; each sums to 1.
        """


class PairWeighter(Protocol):
    """Assigns a logit to each sub-word of a pair; see `models.encode.token_weighter.TokenWeighter`.

    It reads the sub-words of words only, as the authors' encoder does.
    """

    @property
    def identity(self) -> str:
        """Name of the model in signatures."""

    def logits(
        self, pairs: Sequence[tuple[Ids, Ids]]
    ) -> Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Return one logit per sub-word of the candidate and of the source, for each pair."""


@dataclass(frozen=True, slots=True)
class Uniform:
    """Uniform weights 1/N and 1/M (baseline weights of section 3.3)."""

    identity = "uniform"
    candidate_share = 0.5

    def weigh(self, pairs: Sequence[Pair]) -> list[tuple[FloatArray, FloatArray]]:
        """Return the word weights of each pair; see `Weighting.weigh`."""
        return [(_uniform(candidate), _uniform(source)) for candidate, source in pairs]


@dataclass(frozen=True, slots=True)
class Learned:
    """Learned weights: the weight of a word is the sum over its sub-words (equations 6 and 7).

    Args:
        weigher: Model that was trained for one quality dimension.
        candidate_share: Share of the candidate's side in the score, from 0 to 1.
    """

    weigher: PairWeighter
    candidate_share: float = 0.5

    @property
    def identity(self) -> str:
        """Name of the model in signatures."""
        return self.weigher.identity

    def weigh(self, pairs: Sequence[Pair]) -> list[tuple[FloatArray, FloatArray]]:
        """Return the word weights of each pair; see `Weighting.weigh`."""
        read = [(candidate.inside_ids, source.inside_ids) for candidate, source in pairs]
        logits = self.weigher.logits(read)
        return [
            (word_weights(candidate, ours), word_weights(source, theirs))
            for (candidate, source), (ours, theirs) in zip(pairs, logits, strict=True)
        ]


def word_weights(tokenized: TokenizedText, logits: NDArray[np.floating]) -> FloatArray:
    """Convert the logits of the sub-words of N words into the weights of the words (equations 6 and 7).

    Args:
        tokenized: Text with its words.
        logits: W·e for each sub-word that belongs to a word.

    Returns:
        Word weights, shape (N,), with sum 1.
    """
    chosen = np.asarray(logits, dtype=np.float64)
    tokens = np.exp(chosen - chosen.max())
    lengths = [len(word.tokens) for word in tokenized.words]
    starts = np.cumsum([0, *lengths[:-1]])
    words: FloatArray = np.add.reduceat(tokens, starts) / tokens.sum()
    return words


def keep_heaviest(weights: FloatArray, keep: float) -> list[int]:
    """Select the words of highest weight up to a share of the total weight (section 6.2).

    The word that crosses the threshold is included. Among words of equal weight, earlier words come first.

    Args:
        weights: Weights of N words, with sum 1.
        keep: Share of the total weight, in (0, 1]; 1 selects all words.

    Returns:
        Numbers of the selected words, ascending; at least one.

    >>> keep_heaviest(np.array([0.1, 0.5, 0.1, 0.3]), 0.85)
    [0, 1, 3]
    """
    if keep >= 1:
        return list(range(len(weights)))
    heaviest = np.argsort(-weights, kind="stable")
    crossing = int(np.searchsorted(np.cumsum(weights[heaviest]), keep - ENOUGH))
    return sorted(heaviest[: crossing + 1].tolist())


def _uniform(tokenized: TokenizedText) -> FloatArray:
    return np.full(len(tokenized.words), 1 / len(tokenized.words))
