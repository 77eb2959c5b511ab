"""What people say, on the scale of the metric, and how much each side of a pair should count."""

from collections.abc import Sequence

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.metrics.maskeval.training.rows import RatedPair


def balanced_share(rows: Sequence[RatedPair], targets: Sequence[float], held_out: Sequence[int]) -> float:
    """Return the candidate's share, in steps of .05, that agrees best with people under equal weights.

    Only rows that are learned from are looked at. One half where no share agrees better.
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
    """Map targets to the mean and the spread of the uniform scores of the rows that are learned from."""
    apart = set(held_out)
    learned = [at for at in range(len(rows)) if at not in apart]
    ours = np.array([targets[at] for at in learned])
    uniform = np.array([rows[at].uniform for at in learned])
    slope = uniform.std() / ours.std() if ours.std() > 0 else 1.0
    return [float((target - ours.mean()) * slope + uniform.mean()) for target in targets]
