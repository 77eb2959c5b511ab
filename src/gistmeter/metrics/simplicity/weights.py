"""What a token weighs: equation 4, and what else was tried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gistmeter.metrics.simplicity.options import SimplicityOptions, Unit, Weight
from gistmeter.metrics.simplicity.units import Key, count_units, keys
from gistmeter.models.run.tokens import Tokens
from gistmeter.models.run.types import Tokenizer
from gistmeter.text.frequencies import Frequencies

FloatArray = NDArray[np.floating[Any]]
TABLES = {"frequency": ("simple",), "ratio": ("simple", "complex"), "zipf": ("general",), "uniform": ()}
"""Which tables each kind of weight reads."""
KNEE = 1e-3  # of `damped`
PRIOR = 1e-6  # of `ratio`: as if every word stood once more in a million, so that unseen ones get one half


@dataclass(frozen=True, slots=True)
class FrequencyWeighter:
    """Weighs tokens.

    Args:
        weights: Of what is looked up, above 0.
        unseen: Of everything else, above 0.
        unit: What is looked up.
        language: Whose words, where words are looked up.
    """

    weights: Mapping[Key, float]
    unseen: float
    unit: Unit = "subword"
    language: str = "en"

    def weigh(self, text: str, tokens: Tokens) -> FloatArray:
        """Return the weight of each token, shape (tokens,); a model's special tokens weigh nothing."""
        own = ~tokens.special
        weights = np.zeros(len(own))
        if own.any():
            found = keys(text, tokens.offsets[own], self.unit, self.language) if self.weights else []
            weights[own] = [self.weights.get(key, self.unseen) for key in found] or self.unseen
        return weights


def weighter_from(
    tables: Mapping[str, Frequencies],
    tokenizer: Tokenizer,
    options: SimplicityOptions,
) -> FrequencyWeighter:
    """Turn tables into weights.

    Args:
        tables: Those that `TABLES` names for this kind of weight.
        tokenizer: The model's own.
        options: `weight`, `unit`, `damp` and `language` decide.
    """
    counts = [count_units(table.counts, options.unit, tokenizer) for table in tables.values()]
    weights, unseen = weights_of(list(tables.values()), counts, options.weight)
    if options.damp:
        weights, unseen = {key: damped(weight) for key, weight in weights.items()}, damped(unseen)
    return FrequencyWeighter(weights, unseen, options.unit, options.language)


def weights_of(
    tables: Sequence[Frequencies], counts: Sequence[Mapping[Key, int]], weight: Weight
) -> tuple[dict[Key, float], float]:
    """Return what each unit weighs, and what one weighs that no table knows.

    Args:
        tables: Those that `TABLES` names.
        counts: The counts of the units, one mapping a table.
        weight: Of which kind.
    """
    known = dict.fromkeys(key for table in counts for key in table)
    weigh = {"frequency": _frequency, "ratio": _ratio, "zipf": _zipf, "uniform": _uniform}[weight]
    weights = {key: weigh(tables, [table.get(key, 0) for table in counts]) for key in known}
    return weights, weigh(tables, [0] * len(tables))


def damped(weight: float) -> float:
    """Hold a frequency down that is far above a thousandth: tf / (tf + 0.001), from 0 to 1.

    Words in more than one of a thousand simple sentences then weigh much the same, and rarer ones count
    as equation 4 has them.
    """
    return weight / (weight + KNEE)


def _frequency(tables: Sequence[Frequencies], counts: Sequence[int]) -> float:
    """Equation 4."""
    return tables[0].share(counts[0])


def _ratio(tables: Sequence[Frequencies], counts: Sequence[int]) -> float:
    """Return s / (s + c): the ratio s / c of simple to complex frequency on a scale from 0 to 1."""
    simple, other = (count / table.tokens + PRIOR for count, table in zip(counts, tables, strict=True))
    return simple / (simple + other)


def _zipf(tables: Sequence[Frequencies], counts: Sequence[int]) -> float:
    return tables[0].zipf(counts[0])


def _uniform(_: Sequence[Frequencies], __: Sequence[int]) -> float:
    return 1.0
