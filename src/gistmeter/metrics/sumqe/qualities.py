"""The five qualities of the DUC guidelines (SUM-QE, figure 1)."""

QUALITIES = ("grammaticality", "non_redundancy", "referential_clarity", "focus", "coherence")
"""Q1 to Q5, in the paper's order."""
LOWEST, HIGHEST = 1.0, 5.0
"""What people can say."""


def to_scale(share: float) -> float:
    """Turn what a regressor says, 0 for bad and 1 for good, into the 1 to 5 of the guidelines."""
    return LOWEST + share * (HIGHEST - LOWEST)
