"""Five colours for the values of spans, from low to high."""

from collections.abc import Sequence

import numpy as np

NARROW = 0.5
SLACK = 0.001  # rounding takes a cosine above 1


def colour_cuts(values: Sequence[float]) -> list[float]:
    """Return the four values at which the colour changes.

    They divide the stretch where nearly all values are into fifths. Of values from 0 to 1 that stretch is at
    least half as wide, so that small differences do not look large.

    >>> colour_cuts([0.0, 1.0]), colour_cuts([0.5])
    ([0.212, 0.404, 0.596, 0.788], [0.35, 0.45, 0.55, 0.65])
    """
    low, high = _ends(values)
    return [float(f"{low + (high - low) * fifth / 5:.3g}") for fifth in range(1, 5)]


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Return where colours change: where nearly all values are, but never a narrow stretch of 0 to 1."""
    if not values:
        return 0.0, 1.0
    low, high = (float(end) for end in np.quantile(values, [0.02, 0.98]))
    if low > -SLACK and high < 1 + SLACK:
        spare = max(0.0, NARROW - (high - low)) / 2
        low = min(max(0.0, low - spare), 1 - NARROW)
        return low, min(1.0, max(high + spare, low + NARROW))
    return (low, high) if high > low else (low - 0.5, low + 0.5)
