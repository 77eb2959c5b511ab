"""Token weights from frequency tables: equation 4, and alternatives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gistmeter.metrics.simplicity.options import SimplicityOptions, Unit, Weight
from gistmeter.metrics.simplicity.units import Key, Offsets, count_units, subword_keys, word_keys
from gistmeter.models.run.tokens import Tokens
from gistmeter.models.run.types import Tokenizer
from gistmeter.text.frequencies import Frequencies

FloatArray = NDArray[np.floating[Any]]
TABLES = {"frequency": ("simple",), "ratio": ("simple", "complex"), "zipf": ("general",), "uniform": ()}
"""Frequency tables that each kind of weight uses."""
KNEE = 1e-3  # constant of `damped`
PRIOR = 1e-6  # smoothing of `ratio`: one extra occurrence per million words, so unseen words get one half


@dataclass(frozen=True, slots=True)
class FrequencyWeighter:
    """Assigns a weight to each token of a text.

    Args:
        weights: Positive weights by lookup key.
        unseen: Positive weight of other keys.
        unit: Unit of the lookup: sub-word or word.
        language: Language of the word tokenizer, for `unit="word"`.
        tokenizer: Tokenizer of the model, whose normal forms are the keys for `unit="subword"`; None if the
            keys are only lower-cased.
    """

    weights: Mapping[Key, float]
    unseen: float
    unit: Unit = "subword"
    language: str = "en"
    tokenizer: Tokenizer | None = field(default=None, repr=False, compare=False)

    def weigh(self, text: str, tokens: Tokens) -> FloatArray:
        """Return the weight of each token, shape (tokens,); special tokens have weight 0."""
        own = ~tokens.special
        weights = np.zeros(len(own))
        weights[own] = self.unseen
        if own.any() and self.weights:
            found = self._keys(text, tokens.offsets[own])
            weights[own] = [self.weights.get(key, self.unseen) for key in found]
        return weights

    def _keys(self, text: str, offsets: Offsets) -> list[Key]:
        if self.unit == "word":
            return word_keys(text, offsets, self.language)
        return subword_keys(text, offsets, self.tokenizer)


def weighter_from(
    tables: Mapping[str, Frequencies],
    tokenizer: Tokenizer,
    options: SimplicityOptions,
) -> FrequencyWeighter:
    """Build a token weighter from frequency tables.

    Args:
        tables: Tables listed in `TABLES` for the kind of weight.
        tokenizer: Tokenizer of the model.
        options: `weight`, `unit`, `damp` and `language` are used.
    """
    counts = [count_units(table.counts, options.unit, tokenizer) for table in tables.values()]
    weights, unseen = weights_of(list(tables.values()), counts, options.weight)
    if options.damp:
        weights, unseen = {key: damped(weight) for key, weight in weights.items()}, damped(unseen)
    return FrequencyWeighter(weights, unseen, options.unit, options.language, tokenizer)


def weights_of(
    tables: Sequence[Frequencies], counts: Sequence[Mapping[Key, int]], weight: Weight
) -> tuple[dict[Key, float], float]:
    """Return the weight of each lookup key, and the weight of unseen keys.

    Args:
        tables: Tables listed in `TABLES` for the kind of weight.
        counts: Counts of lookup keys, one mapping per table.
        weight: Kind of weight.
    """
    known = dict.fromkeys(key for table in counts for key in table)
    weigh = {"frequency": _frequency, "ratio": _ratio, "zipf": _zipf, "uniform": _uniform}[weight]
    weights = {key: weigh(tables, [table.get(key, 0) for table in counts]) for key in known}
    return weights, weigh(tables, [0] * len(tables))


def damped(weight: float) -> float:
    """Return the damped frequency tf / (tf + 0.001), from 0 to 1.

    Words that occur in far more than one of 1,000 simple sentences get similar weights; the weights of much
    rarer words stay proportional to equation 4.
    """
    return weight / (weight + KNEE)


def _frequency(tables: Sequence[Frequencies], counts: Sequence[int]) -> float:
    """Return tf(w), the share of sentences that contain the unit (equation 4)."""
    return tables[0].share(counts[0])


def _ratio(tables: Sequence[Frequencies], counts: Sequence[int]) -> float:
    """Return s / (s + c), with the frequencies s in simple and c in complex texts."""
    simple, other = (count / table.tokens + PRIOR for count, table in zip(counts, tables, strict=True))
    return simple / (simple + other)


def _zipf(tables: Sequence[Frequencies], counts: Sequence[int]) -> float:
    return tables[0].zipf(counts[0])


def _uniform(_: Sequence[Frequencies], __: Sequence[int]) -> float:
    return 1.0
