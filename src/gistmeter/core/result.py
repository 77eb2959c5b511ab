"""The scores of one metric over many examples, with their mean and its interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gistmeter.core.bootstrap import bootstrap_mean
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature


@dataclass(frozen=True, slots=True)
class MetricResult:
    """The scores of one metric, and their mean.

    Args:
        signature: What decided the numbers.
        scores: One an example, in input order.
        mean: Over the examples that have a value; NaN if none has.
        low: Lower end of the 95 % bootstrap interval of the mean.
        high: Upper end.
        n: How many examples have a value.
        n_undefined: How many have none.
    """

    signature: Signature
    scores: tuple[Score, ...]
    mean: float
    low: float
    high: float
    n: int
    n_undefined: int

    @classmethod
    def of(
        cls,
        signature: Signature,
        scores: Sequence[Score],
        groups: Sequence[str | None] = (),
        *,
        seed: int = 0,
    ) -> "MetricResult":
        """Sum up scores.

        Args:
            signature: What decided the numbers.
            scores: One an example.
            groups: The document of each score; rows of one document are resampled together.
                A row without one is a document of its own.
            seed: Of the bootstrap.
        """
        keys = [group or f"\0{at}" for at, group in enumerate(groups or [None] * len(scores))]
        pairs = zip(scores, keys, strict=True)
        defined = [(score.value, key) for score, key in pairs if score.problem is None]
        values = np.array([value for value, _ in defined])
        low, high = bootstrap_mean(values, [key for _, key in defined], seed=seed)
        mean = float(values.mean()) if len(values) else math.nan
        return cls(signature, tuple(scores), mean, low, high, len(values), len(scores) - len(values))
