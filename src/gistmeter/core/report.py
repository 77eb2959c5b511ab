"""Scores of many examples, summed up."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature

RESAMPLES = 1000
DRAWN_AT_ONCE = 10_000_000


@dataclass(frozen=True, slots=True)
class Report:
    """The mean of a metric over examples.

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
    ) -> "Report":
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


def evaluate(metric: Metric, examples: Sequence[Example], *, seed: int = 0) -> Report:
    """Score examples and sum the scores up.

    The interval resamples documents where examples say which document they belong to, rows otherwise.

    Args:
        metric: From `load`, or any object that follows the `Metric` protocol.
        examples: What to score.
        seed: Of the bootstrap.
    """
    scores = metric.score(examples)
    return Report.of(metric.signature, scores, [example.doc_id for example in examples], seed=seed)


def draw_groups(groups: int, *, resamples: int, seed: int) -> NDArray[np.int64]:
    """Draw groups with replacement and count how often each is drawn, shape (resamples, groups)."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(groups, np.full(groups, 1 / groups), size=resamples)


def group_weights(groups: Sequence[str], *, resamples: int, seed: int) -> NDArray[np.int64]:
    """Draw groups with replacement and count how often each row is drawn.

    Args:
        groups: The group of each of n rows.
        resamples: How many times to draw.
        seed: Makes the draw repeatable.

    Returns:
        Counts of shape (resamples, n).
    """
    names, member = np.unique(np.asarray(groups), return_inverse=True)
    return draw_groups(len(names), resamples=resamples, seed=seed)[:, member]


def bootstrap_mean(values: NDArray[np.float64], groups: Sequence[str], *, seed: int) -> tuple[float, float]:
    """Return the 95 % percentile interval of the mean, resampling whole groups.

    NaN, NaN where there are fewer than two groups: one document says nothing about others.
    """
    names, member = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) < 2:
        return math.nan, math.nan
    sums = np.bincount(member, weights=values)
    sizes = np.bincount(member)
    means = []
    # In slices, so that a million documents fit into memory.
    step = max(1, DRAWN_AT_ONCE // len(names))
    for start in range(0, RESAMPLES, step):
        drawn = draw_groups(len(names), resamples=min(step, RESAMPLES - start), seed=seed + start)
        means.append((drawn @ sums) / (drawn @ sizes))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)
