"""Weighted similarity of two texts (equations 1 to 3 and 5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gistmeter.matching import Matching, f1, f_beta, greedy, weighted_mean
from gistmeter.metrics.simplicity.weights import FrequencyWeighter
from gistmeter.models.run.tokens import Tokens
from gistmeter.text.words import Segment, linguistic_ends, segments

FloatArray = NDArray[np.floating[Any]]
Parts = dict[str, float]
PARTS = ("precision", "recall", "f1", "f_half")
HALF = 0.5
"""Weight of recall relative to precision in `f_half`."""


class TokenEncoder(Protocol):
    """Encodes each token of a text as a vector; implemented by `models.encode.encoder.Encoder`."""

    @property
    def identity(self) -> str:
        """Name of the encoder in signatures."""

    def embed_tokens(self, texts: Sequence[str]) -> list[tuple[Tokens, NDArray[np.float32]]]:
        """Return, for each text, its tokens and their unit vectors, shape (tokens, dimensions)."""


class TextJudge(Protocol):
    """Classifies texts as simplified or original; implemented by `models.encode.tuned.TextHead`."""

    def probability(self, vectors: NDArray[np.float32], /) -> float:
        """Return the probability that a text is simplified, given the vectors of its tokens."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Words of a text.

    Args:
        places: Words in text order.
        owners: Word number of each non-special token, shape (tokens,); white space belongs to the word after
            it. -1 if there are no words.
    """

    places: list[Segment]
    owners: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Text:
    """Encoded and weighted text.

    Args:
        text: Text as given by the user.
        tokens: Tokens, including special tokens.
        vectors: Unit vectors, shape (tokens, dimensions).
        weights: Token weights, shape (tokens,): 0 for special tokens, positive for others.
        language: Language of the word tokenizer.
    """

    text: str
    tokens: Tokens
    vectors: FloatArray
    weights: FloatArray
    language: str = "en"

    @cached_property
    def words(self) -> Words:
        """Words of the text; computed on first use, because not every text needs them."""
        offsets = self.tokens.offsets[~self.tokens.special]
        pieces = [(start, end) for start, end in offsets.tolist()]
        places = segments(self.text, pieces, linguistic_ends(self.text, self.language))
        owners = np.searchsorted([word.last for word in places], np.arange(len(pieces)))
        return Words(places, np.minimum(owners, len(places) - 1))


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Match of a text with a reference.

    Args:
        forward: Match of each token of the text.
        parts: Components `precision`, `recall`, `f1` and `f_half` (F0.5), in their usual meaning.
    """

    forward: Matching
    parts: Parts


def read(texts: Sequence[str], encoder: TokenEncoder, weighter: FrequencyWeighter) -> dict[str, Text]:
    """Encode texts and compute token weights; each distinct text is processed once."""
    unique = list(dict.fromkeys(texts))
    encoded = zip(unique, encoder.embed_tokens(unique), strict=True)
    return {
        text: Text(text, tokens, vectors, weighter.weigh(text, tokens), weighter.language)
        for text, (tokens, vectors) in encoded
    }


def match(ours: Text, reference: Text) -> Match:
    """Match tokens greedily in both directions.

    The paper swaps the usual names: its equation 1, "precision", is the mean over the reference and is
    `recall` here; its equations 2 and 5, "recall", are means over the output and are `precision` here.
    """
    similarity = ours.vectors @ reference.vectors.T
    forward, backward = greedy(similarity), greedy(similarity.T)
    precision = weighted_mean(forward.similarity, ours.weights)
    recall = weighted_mean(backward.similarity, reference.weights)
    both = {"f1": f1(precision, recall), "f_half": f_beta(precision, recall, HALF)}
    return Match(forward, {"precision": precision, "recall": recall, **both})


def best(matches: Sequence[Parts]) -> Parts:
    """Return the maximum of each component over the references; NaN without references."""
    return {name: max((parts[name] for parts in matches), default=math.nan) for name in PARTS}
