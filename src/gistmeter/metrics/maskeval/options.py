"""Options of MaskEval."""

from dataclasses import dataclass
from typing import Literal

from gistmeter.core.errors import UsageError

Scoring = Literal["exact", "probability", "log_probability", "reciprocal_rank"]
Dimension = Literal["none", "consistency", "coherence", "fluency", "relevance"]


@dataclass(frozen=True, slots=True)
class MaskEvalOptions:
    """Options of MaskEval; the defaults are the paper's, with uniform weights.

    Args:
        score: Score of a word: `exact` match of the prediction, ignoring case (equations 3 and 4), or, from
            the paper's future work, the `probability` of the word, its `log_probability`, or its
            `reciprocal_rank`.
        prior: `subtract` lowers the score of each word of the source by its score without the candidate, so
            that it measures what the candidate contributes; not in the paper.
        dimension: Quality dimension of the learned word weights; `none` uses uniform weights.
        keep: Share of a side's total weight, in (0, 1]. Only the words of highest weight up to this share are
            predicted (section 6.2).
        masks_per_pass: Number of words blanked in one sequence. More than 1 is faster and an approximation.
        spacing: Minimum number of sub-words between words blanked in one sequence.
        language: Language of the word tokenizer: a spaCy language code, `xx` for other languages.
        weigher: Folder of learned weights. The default is the weights that ship with the model, or the
            folder `weigher` inside the model's folder.

    Raises:
        UsageError: If a number is out of range.
    """

    score: Scoring = "exact"
    prior: Literal["none", "subtract"] = "none"
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
            raise UsageError(f"masks_per_pass={self.masks_per_pass}: give at least 1")
        if self.spacing < 1:
            raise UsageError(f"spacing={self.spacing}: give at least 1")
