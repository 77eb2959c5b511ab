"""What can be chosen about MaskEval."""

from dataclasses import dataclass
from typing import Literal

from gistmeter.core.errors import UsageError

Scoring = Literal["exact", "probability", "log_probability", "reciprocal_rank"]
Dimension = Literal["none", "consistency", "coherence", "fluency", "relevance"]


@dataclass(frozen=True, slots=True)
class MaskEvalOptions:
    """Options of MaskEval; the defaults are the paper's, with uniform weights.

    Args:
        score: How a word is judged (equations 3 and 4): whether the prediction is `exact` under
            lower-casing, or, the paper's future work, the `probability` of the word, its logarithm, or its
            `reciprocal_rank`.
        dimension: The quality that the weights were learned for; `none` weights every word the same.
        keep: Only the words of highest weight are asked for, until their weights add up to this share of a
            side, in (0, 1] (section 6.2).
        masks_per_pass: How many words are blanked in one sequence. More than 1 is faster and not exact.
        spacing: How many sub-words lie at least between words that are blanked in one sequence.
        language: Whose words are counted: a code that spaCy knows, `xx` for any other.
        weigher: A folder of learned weighers; by default, those that ship, or the folder `weigher` of another
            model.

    Raises:
        UsageError: If a number is out of its range.
    """

    score: Scoring = "exact"
    dimension: Dimension = "none"
    keep: float = 1.0
    masks_per_pass: int = 1
    spacing: int = 24
    language: str = "en"
    weigher: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.keep <= 1:
            raise UsageError(f"keep={self.keep}: give a share above 0 and up to 1")
        if self.masks_per_pass < 1:
            raise UsageError(f"masks_per_pass={self.masks_per_pass}: give a number above 0")
        if self.spacing < 1:
            raise UsageError(f"spacing={self.spacing}: give a number above 0")
