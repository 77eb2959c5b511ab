"""Align the sentences of two texts, and compute precision, recall, F1 and minimum (section 3.4)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gistmeter.matching import Matching, f1, greedy, optimal, weighted_mean
from gistmeter.metrics.speed.options import SpeedOptions

FloatArray = NDArray[np.floating[Any]]
Parts = dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Alignment of the candidate's sentences with those of another text.

    Args:
        forward: Match of each candidate sentence.
        backward: Match of each sentence of the other text.
        parts: Components `precision`, `recall`, `f1` and `min`.
    """

    forward: Matching
    backward: Matching
    parts: Parts


def align(similarity: FloatArray, options: SpeedOptions) -> Alignment:
    """Align the sentences of two texts (greedy matching: section 3.4; optimal matching: section 4.4.2).

    Args:
        similarity: Similarity matrix, shape (candidate sentences, other sentences).
        options: `match` and `norm` are used.
    """
    if options.match == "greedy":
        forward, backward = greedy(similarity), greedy(similarity.T)
        precision = weighted_mean(forward.similarity)
        recall = weighted_mean(backward.similarity)
    else:
        forward, backward = optimal(similarity), optimal(similarity.T)
        # One-to-one matching is symmetric, so precision and recall are equal.
        size = min(similarity.shape) if options.norm == "min" else max(similarity.shape)
        precision = recall = float(np.nansum(forward.similarity)) / size
    worst = float(np.nanmin(forward.similarity))
    parts = {"precision": precision, "recall": recall, "f1": f1(precision, recall), "min": worst}
    return Alignment(forward, backward, parts)
