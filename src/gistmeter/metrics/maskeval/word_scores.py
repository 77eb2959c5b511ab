"""Score single word predictions (MaskEval, equations 3 and 4, and footnote 4)."""

import math

from gistmeter.metrics.maskeval.options import Scoring
from gistmeter.models.fill.protocol import Fill

LEAST = 2.0**-126
"""Lower bound on probabilities: the smallest normal number in single precision."""


def word_score(fill: Fill, scoring: Scoring) -> float:
    """Return the score of a prediction for one blank.

    For a word of several sub-words, `probability` is the product of their probabilities, `log_probability`
    the sum of the logarithms, and `reciprocal_rank` the reciprocal of the worst rank, which is 1 exactly if
    the model ranks each sub-word first.

    Args:
        fill: Prediction for the blank.
        scoring: `exact` is 0 or 1; `probability` and `reciprocal_rank` lie in [0, 1]; `log_probability` is
            at most 0 and at least -87.4 per sub-word.

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
