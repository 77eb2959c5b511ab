"""What one prediction is worth (MaskEval, equations 3 and 4, and the future work of its footnote 4)."""

import math

from gistmeter.metrics.maskeval.options import Scoring
from gistmeter.models.fill.protocol import Fill

LEAST = 2.0**-126
"""The smallest normal number in single precision, for probabilities that a model rounds to 0."""


def word_score(fill: Fill, scoring: Scoring) -> float:
    """Judge what a model put into one blank.

    A word of several sub-words has the product of their probabilities, the sum of their logarithms, and
    the reciprocal of their worst rank, which is 1 exactly when the model ranks each of them first.

    Args:
        fill: What the model says of the blank.
        scoring: `exact` gives 1 or 0, `probability` and `reciprocal_rank` lie in [0, 1], `log_probability`
            is at most 0 and at least -87.4 a sub-word.

    >>> fill = Fill((7,), False, (0.6,), gold_probabilities=(0.5, 0.25), gold_ranks=(1, 4))
    >>> word_score(fill, "exact"), word_score(fill, "probability"), word_score(fill, "reciprocal_rank")
    (0.0, 0.125, 0.25)
    """
    match scoring:
        case "exact":
            return float(fill.matches)
        case "probability":
            return math.prod(fill.gold_probabilities)
        case "log_probability":
            return sum(math.log(max(p, LEAST)) for p in fill.gold_probabilities)
        case "reciprocal_rank":
            return 1 / max(fill.gold_ranks)
