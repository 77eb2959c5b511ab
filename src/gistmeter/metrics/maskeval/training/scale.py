"""Map human ratings to the scale of the metric, and choose the share of each side."""

from collections.abc import Sequence

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.metrics.maskeval.training.rows import RatedPair


def balanced_share(rows: Sequence[RatedPair], targets: Sequence[float], held_out: Sequence[int]) -> float:
    """Return the candidate's share with the best Pearson correlation under uniform weights, in steps of .05.

    Only training rows are used. The share closest to one half wins ties.
    """
    apart = set(held_out)
    learned = [at for at in range(len(rows)) if at not in apart]
    sides = np.array([[side.values.mean() for side in rows[at].sides] for at in learned])
    wanted = [targets[at] for at in learned]
    shares = sorted(np.arange(21) / 20, key=lambda share: abs(share - 0.5))
    found = [pearson(sides @ [share, 1 - share], wanted) for share in shares]
    best = 0 if np.isnan(found).all() else int(np.nanargmax(found))
    return float(shares[best])


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
