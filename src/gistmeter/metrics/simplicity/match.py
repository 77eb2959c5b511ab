"""How close two texts are, each token counting by its weight: equations 1 to 3 and 5."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gistmeter.matching import Matching, f1, greedy, weighted_mean
from gistmeter.metrics.simplicity.weights import FrequencyWeighter
from gistmeter.models.run.tokens import Tokens
from gistmeter.text.words import Segment, linguistic_ends, segments

FloatArray = NDArray[np.floating[Any]]
Parts = dict[str, float]
PARTS = ("precision", "recall", "f1")


class TokenEncoder(Protocol):
    """Turns each token of a text into a vector; `models.encode.encoder.Encoder` does."""

    @property
    def identity(self) -> str:
        """What signatures call it."""

    def embed_tokens(self, texts: Sequence[str]) -> list[tuple[Tokens, NDArray[np.float32]]]:
        """Return tokens and vectors of unit length, shape (tokens, dimensions), of each text."""


class TextJudge(Protocol):
    """Tells simplified texts from others; `models.encode.tuned.TextHead` does."""

    def probability(self, vectors: NDArray[np.float32], /) -> float:
        """Return how probably a text is a simplified one, from the vectors of its tokens."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """A text's words.

    Args:
        places: The words in order.
        owners: To which of them each token belongs, special ones aside, shape (tokens,); white space
            belongs to the word after it. -1 if there are no words.
    """

    places: list[Segment]
    owners: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Text:
    """A text as the metric reads it.

    Args:
        text: As the user gave it.
        tokens: Its tokens, special ones included.
        vectors: Of unit length, shape (tokens, dimensions).
        weights: 0 on special tokens, above 0 on all others, shape (tokens,).
        language: Whose words it has.
    """

    text: str
    tokens: Tokens
    vectors: FloatArray
    weights: FloatArray
    language: str = "en"

    @cached_property
    def words(self) -> Words:
        """Its words; cut when they are first asked for, since few texts are shown."""
        offsets = self.tokens.offsets[~self.tokens.special]
        pieces = [(start, end) for start, end in offsets.tolist()]
        places = segments(self.text, pieces, linguistic_ends(self.text, self.language))
        owners = np.searchsorted([word.last for word in places], np.arange(len(pieces)))
        return Words(places, np.minimum(owners, len(places) - 1))


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """A text matched with a reference.

    Args:
        forward: A partner for each of its tokens.
        parts: precision, recall and f1, as they are usually called.
    """

    forward: Matching
    parts: Parts


def read(texts: Sequence[str], encoder: TokenEncoder, weighter: FrequencyWeighter) -> dict[str, Text]:
    """Encode and weigh texts, each once."""
    unique = list(dict.fromkeys(texts))
    encoded = zip(unique, encoder.embed_tokens(unique), strict=True)
    return {
        text: Text(text, tokens, vectors, weighter.weigh(text, tokens), weighter.language)
        for text, (tokens, vectors) in encoded
    }


def match(ours: Text, reference: Text) -> Match:
    """Match tokens greedily from both sides.

    The paper swaps the usual names: its equation 1, "precision", runs over the reference and is `recall`
    here; its equations 2 and 5, "recall", run over the output and are `precision` here.
    """
    similarity = ours.vectors @ reference.vectors.T
    forward, backward = greedy(similarity), greedy(similarity.T)
    precision = weighted_mean(forward.similarity, ours.weights)
    recall = weighted_mean(backward.similarity, reference.weights)
    return Match(forward, {"precision": precision, "recall": recall, "f1": f1(precision, recall)})


def best(matches: Sequence[Parts]) -> Parts:
    """Take each part from the reference that is best by it; NaN without any reference."""
    return {name: max((parts[name] for parts in matches), default=math.nan) for name in PARTS}
