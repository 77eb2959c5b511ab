"""How much closer to the references the output is than the input was: equation 6."""

from collections.abc import Mapping

CLOSE = 1e-5
"""A text whose score falls short of 1 by less equals a reference; single precision errs by 1e-6."""


def relative(output: float, source: float, *, clip: bool = False) -> float:
    """Return RelBERTScore: 1 for an output equal to a reference, 0 for one no closer than the input.

    Where the input equals a reference, the denominator is 0: the result is then 1 for an output that
    equals one, too, and 0 for any other.

    Args:
        output: Score of the output against the references, at most 1.
        source: Score of the input against them, on the same scale.
        clip: Whether a negative result, of an output further away than the input, becomes 0.

    >>> round(relative(0.9, 0.8), 6), round(relative(0.7, 0.8), 6), relative(0.9, 1.0)
    (0.5, -0.5, 0.0)
    """
    if is_one(source):
        return float(is_one(output))
    found = 1 - (1 - output) / (1 - source)
    return 0.0 if clip and found < 0 else found


def is_one(score: float) -> bool:
    """Tell whether a score is that of a text compared with itself."""
    return 1 - score < CLOSE


def relative_parts(
    output: Mapping[str, float], source: Mapping[str, float], *, clip: bool
) -> dict[str, float]:
    """Return equation 6 of each part, called rel_precision, rel_recall and rel_f1."""
    return {f"rel_{name}": relative(output[name], source[name], clip=clip) for name in output}
