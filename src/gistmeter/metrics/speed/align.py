"""Which sentence means what which other one means, and how well the two texts agree by that."""

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
    """A candidate's sentences matched with another text's.

    Args:
        forward: A partner for each candidate sentence.
        backward: A partner for each sentence of the other text.
        parts: precision, recall, f1 and min.
    """

    forward: Matching
    backward: Matching
    parts: Parts


def align(similarity: FloatArray, options: SpeedOptions) -> Alignment:
    """Match the sentences of two texts (section 3.4; optimal matching: section 4.4.2).

    Args:
        similarity: Shape (candidate sentences, other sentences).
        options: `match` and `norm` decide.
    """
    if options.match == "greedy":
        forward, backward = greedy(similarity), greedy(similarity.T)
        precision = weighted_mean(forward.similarity)
        recall = weighted_mean(backward.similarity)
    else:
        forward, backward = optimal(similarity), optimal(similarity.T)
        # One-to-one pairs read the same from both sides, so there is one mean.
        size = min(similarity.shape) if options.norm == "min" else max(similarity.shape)
        precision = recall = float(np.nansum(forward.similarity)) / size
    worst = float(np.nanmin(forward.similarity))
    parts = {"precision": precision, "recall": recall, "f1": f1(precision, recall), "min": worst}
    return Alignment(forward, backward, parts)
