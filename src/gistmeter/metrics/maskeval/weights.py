"""How much each word counts (MaskEval, section 3.3): uniform, or learned for one quality."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gistmeter.metrics.maskeval.tokenized import Pair, TokenizedText

FloatArray = NDArray[np.float64]
Ids = tuple[int, ...]

ENOUGH = 1e-9  # sums of equal weights miss round numbers by less


class Weighting(Protocol):
    """Weighs the words of candidates and their sources."""

    @property
    def identity(self) -> str:
        """What signatures call it."""

    @property
    def candidate_share(self) -> float:
        """How much the candidate's side counts, from 0 to 1; the source's has the rest."""

    def weigh(self, pairs: Sequence[Pair]) -> list[tuple[FloatArray, FloatArray]]:
        """Weigh pairs that both have words.

        Returns:
            For each pair, the weights of the candidate's N words and the source's M, each adding up to 1.
        """


class PairWeighter(Protocol):
    """Gives every sub-word of a pair a number, as `models.encode.token_weighter.Weigher` does."""

    @property
    def identity(self) -> str:
        """What signatures call it."""

    def logits(
        self, pairs: Sequence[tuple[Ids, Ids]]
    ) -> Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Return one number a sub-word of the candidate and of the source, for each pair."""


@dataclass(frozen=True, slots=True)
class Uniform:
    """Every word counts the same: 1/N and 1/M (section 3.3, baseline weights)."""

    identity = "uniform"
    candidate_share = 0.5

    def weigh(self, pairs: Sequence[Pair]) -> list[tuple[FloatArray, FloatArray]]:
        """Weigh pairs; see `Weighting`."""
        return [(_uniform(candidate), _uniform(source)) for candidate, source in pairs]


@dataclass(frozen=True, slots=True)
class Learned:
    """Words count what their sub-words add up to (equations 6 and 7).

    Args:
        weigher: What was learned for one quality.
        candidate_share: How much the candidate's side counts, from 0 to 1.
    """

    weigher: PairWeighter
    candidate_share: float = 0.5

    @property
    def identity(self) -> str:
        """What signatures call it."""
        return self.weigher.identity

    def weigh(self, pairs: Sequence[Pair]) -> list[tuple[FloatArray, FloatArray]]:
        """Weigh pairs; see `Weighting`."""
        logits = self.weigher.logits([(candidate.ids, source.ids) for candidate, source in pairs])
        return [
            (word_weights(candidate, ours), word_weights(source, theirs))
            for (candidate, source), (ours, theirs) in zip(pairs, logits, strict=True)
        ]


def word_weights(tokenized: TokenizedText, logits: NDArray[np.floating]) -> FloatArray:
    """Turn the numbers of n sub-words into the weights of N words (equations 6 and 7).

    The softmax runs over the sub-words of words. Those of white space, which are part of none, are left
    out: the same as a softmax over all, followed by what equation 5 asks for, weights that add up to 1.

    Args:
        tokenized: The text.
        logits: W·e for each sub-word, shape (n,).

    Returns:
        Shape (N,), adding up to 1.
    """
    inside = [index for word in tokenized.words for index in word.tokens]
    chosen = np.asarray(logits, dtype=np.float64)[inside]
    tokens = np.exp(chosen - chosen.max())
    lengths = [len(word.tokens) for word in tokenized.words]
    starts = np.cumsum([0, *lengths[:-1]])
    words: FloatArray = np.add.reduceat(tokens, starts) / tokens.sum()
    return words


def keep_heaviest(weights: FloatArray, keep: float) -> list[int]:
    """Choose the heaviest words until their weights add up to a share of all (section 6.2).

    The word that crosses the threshold is kept; of equal words the earlier one comes first.

    Args:
        weights: Of N words, adding up to 1.
        keep: The share, in (0, 1]; 1 keeps every word.

    Returns:
        The numbers of the words kept, ascending; at least one.

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
