"""Five linguistic qualities of the DUC guidelines (SUM-QE, figure 1)."""

QUALITIES = ("grammaticality", "non_redundancy", "referential_clarity", "focus", "coherence")
"""Q1 to Q5, in the paper's order."""
LOWEST, HIGHEST = 1.0, 5.0
"""Rating scale of the DUC guidelines."""


def to_scale(share: float) -> float:
    """Map a prediction from 0 (bad) to 1 (good) to the DUC scale from 1 to 5."""
    return LOWEST + share * (HIGHEST - LOWEST)
