"""Map human ratings to the scale of the metric, and choose the share of each side and the source's fall."""

from collections.abc import Sequence

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.metrics.maskeval.training.rows import RatedPair, SideStates
from gistmeter.models.encode.token_weighter import falling

FALLS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Choices for how fast the weights of the source's words fall with their position; see `falling`."""


def balanced(
    rows: Sequence[RatedPair], targets: Sequence[float], held_out: Sequence[int]
) -> tuple[float, float]:
    """Choose the candidate's share, in steps of .05, and the fall of the source's weights, one of `FALLS`.

    The choice has the best Pearson correlation on the training rows, without other weights. The share closest
    to one half and the smallest fall win ties.
    """
    apart = set(held_out)
    learned = [rows[at] for at in range(len(rows)) if at not in apart]
    wanted = [target for at, target in enumerate(targets) if at not in apart]
    ours = np.array([row.sides[0].values.mean() for row in learned])
    theirs = {fall: np.array([_falling_mean(row.sides[1], fall) for row in learned]) for fall in FALLS}
    shares = sorted((np.arange(21) / 20).tolist(), key=lambda share: abs(share - 0.5))
    choices = [(share, fall) for share in shares for fall in FALLS]
    found = [pearson(share * ours + (1 - share) * theirs[fall], wanted) for share, fall in choices]
    return choices[0 if np.isnan(found).all() else int(np.nanargmax(found))]


def _falling_mean(side: SideStates, fall: float) -> float:
    return float(np.average(side.values, weights=np.exp(falling(len(side.values), fall))))


def spread_like_uniform(
    rows: Sequence[RatedPair], targets: Sequence[float], held_out: Sequence[int]
) -> list[float]:
    """Map targets linearly to the mean and standard deviation of the uniform scores of the training rows."""
    apart = set(held_out)
    learned = [at for at in range(len(rows)) if at not in apart]
    ours = np.array([targets[at] for at in learned])
    uniform = np.array([rows[at].uniform for at in learned])
    slope = uniform.std() / ours.std() if ours.std() > 0 else 1.0
    return [float((target - ours.mean()) * slope + uniform.mean()) for target in targets]
