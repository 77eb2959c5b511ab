"""RelBERTScore: similarity to the references relative to that of the source (equation 6)."""

from collections.abc import Mapping

CLOSE = 1e-5
"""Tolerance below 1 within which a text counts as equal to a reference; the rounding error is about 1e-6."""


def relative(output: float, source: float, *, clip: bool = False) -> float:
    """Return RelBERTScore: 1 if the output equals a reference, 0 if it is as close to them as the source.

    If the source equals a reference, the denominator is 0. The result is then 1 if the output also equals a
    reference, otherwise 0.

    Args:
        output: Score of the output against the references, at most 1.
        source: Score of the source against the references, on the same scale.
        clip: Whether to replace a negative result by 0.

    >>> round(relative(0.9, 0.8), 6), round(relative(0.7, 0.8), 6), relative(0.9, 1.0)
    (0.5, -0.5, 0.0)
    """
    if is_one(source):
        return float(is_one(output))
    found = 1 - (1 - output) / (1 - source)
    return 0.0 if clip and found < 0 else found


def is_one(score: float) -> bool:
    """Return whether a score equals that of two identical texts, within tolerance."""
    return 1 - score < CLOSE


def relative_parts(
    output: Mapping[str, float], source: Mapping[str, float], *, clip: bool
) -> dict[str, float]:
    """Return equation 6 for each component, named `rel_…`."""
    return {f"rel_{name}": relative(output[name], source[name], clip=clip) for name in output}
