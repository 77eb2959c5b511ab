"""The `MetricResult` type: one metric's scores, with their mean and its confidence interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.bootstrap import bootstrap_mean
from gistmeter.core.column import Column
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
        values = np.array([score.value for score in scores], dtype=np.float64)
        mean, low, high = mean_of(values, groups, seed=seed)
        n_undefined = int(np.isnan(values).sum())
        return cls(signature, tuple(scores), mean, low, high, len(values) - n_undefined, n_undefined)


@dataclass(frozen=True, slots=True)
class ColumnResult:
    """The scores of one metric over more rows than fit into memory whole, and their mean.

    Args:
        signature: What decided the numbers.
        scores: What is kept of them.
        mean: As in `MetricResult`.
        low: As in `MetricResult`.
        high: As in `MetricResult`.
        n: As in `MetricResult`.
        n_undefined: As in `MetricResult`.
    """

    signature: Signature
    scores: Column
    mean: float
    low: float
    high: float
    n: int
    n_undefined: int

    @classmethod
    def of(
        cls, signature: Signature, column: Column, groups: Sequence[str | None], *, seed: int = 0
    ) -> "ColumnResult":
        """Sum up scores, as `MetricResult.of` does."""
        values = np.array(column.values, dtype=np.float64)
        n_undefined = int(np.isnan(values).sum())
        return cls(
            signature, column, *mean_of(values, groups, seed=seed), len(values) - n_undefined, n_undefined
        )


def result_row(label: str, result: MetricResult | ColumnResult) -> dict[str, object]:
    """Return a result as values that JSON can represent: an undefined number is None.

    Args:
        label: The metric's name in the output.
        result: The metric's result.

    >>> row = result_row("chrf", MetricResult.of(Signature.of("chrf", version=1), []))
    >>> row["mean"], row["n"], row["signature"]
    (None, 0, 'chrf|version=1')
    """
    numbers = {"mean": result.mean, "low": result.low, "high": result.high}
    return {
        "metric": label,
        **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
        "n": result.n,
        "n_undefined": result.n_undefined,
        "signature": result.signature.text,
    }


def mean_of(
    values: NDArray[np.float64], groups: Sequence[str | None], *, seed: int
) -> tuple[float, float, float]:
    """Return the mean of the values that are no NaN, and the ends of its 95 % bootstrap interval.

    Args:
        values: One a row.
        groups: The document of each row, None for one of its own; empty for no documents.
        seed: Of the bootstrap.
    """
    defined = np.flatnonzero(~np.isnan(values))
    keys = [(groups[at] if groups else None) or f"\0{at}" for at in map(int, defined)]
    low, high = bootstrap_mean(values[defined], keys, seed=seed)
    return float(values[defined].mean()) if len(defined) else math.nan, low, high
