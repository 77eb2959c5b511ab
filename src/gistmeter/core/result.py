"""The `MetricResult` type: one metric's scores, with their mean and its confidence interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gistmeter.core.bootstrap import bootstrap_mean
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature


@dataclass(frozen=True, slots=True)
class MetricResult:
    """The scores of one metric, with their mean and its interval.

    Args:
        signature: The metric's signature.
        scores: One score per example, in input order.
        mean: The mean over the examples that have a value; NaN if none has one.
        low: Lower end of the 95 % bootstrap interval of the mean.
        high: Upper end of the interval.
        n: The number of examples with a value.
        n_undefined: The number of examples without a value.
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
        """Compute the mean and its interval from scores.

        Args:
            signature: The metric's signature.
            scores: One score per example.
            groups: The document of each score; rows of one document are resampled together.
                A row without a document is a group of its own.
            seed: Seed of the bootstrap.
        """
        keys = [group or f"\0{at}" for at, group in enumerate(groups or [None] * len(scores))]
        pairs = zip(scores, keys, strict=True)
        defined = [(score.value, key) for score, key in pairs if score.problem is None]
        values = np.array([value for value, _ in defined])
        low, high = bootstrap_mean(values, [key for _, key in defined], seed=seed)
        mean = float(values.mean()) if len(values) else math.nan
        return cls(signature, tuple(scores), mean, low, high, len(values), len(scores) - len(values))
