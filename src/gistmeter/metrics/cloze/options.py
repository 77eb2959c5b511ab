"""What can be chosen about ClozE."""

from dataclasses import dataclass
from typing import Literal

from gistmeter.core.errors import UsageError

Criterion = Literal["f1", "bag", "exact", "soft", "log"]


@dataclass(frozen=True, slots=True)
class ClozeOptions:
    """Options of ClozE; the defaults are those of the authors' code.

    Args:
        k: How many consecutive factors are blanked in one query (sections 3.4 and 5); at least 1.
        level: The text of a query is one `sentence`, or the whole `summary` (section 3.5).
        selection: Factors are entities or noun chunks alone, or all of one kind and those of the other
            that overlap none of them.
        criterion: How an answer is compared with the factor. `f1` is token F1 by membership, as in the
            authors' code; `bag` counts repeated tokens, as SQuAD does; `exact` is 1 for the same text under
            lower-casing; `soft` is the mean probability that the model gives the factor's own tokens;
            `log` is the mean logarithm of these probabilities, at most 0.
        prior: `subtract` fills each blank a second time without the document and subtracts that score: what
            the document adds. Needs `criterion=soft` or `log`.
        confidence: Whether an answer that is poor and unsure at once scores 0 (section 3.6). Applies to
            scores from 0 to 1: neither to `criterion=log` nor to `prior=subtract`.
        alpha: Below this confidence an answer is unsure, from 0 to 1. Corrections are suggested from it on.
        beta: Below this score an answer is poor, from 0 to 1.
        aggregate: The value is the `average` over the factors (eq. 2), or the worst one (`min`).

    Raises:
        UsageError: If k, alpha or beta is out of its range, or a prior is subtracted from a criterion that
            compares texts.
    """

    k: int = 1
    level: Literal["sentence", "summary"] = "sentence"
    selection: Literal["entity_first", "noun_first", "entity", "noun"] = "entity_first"
    criterion: Criterion = "f1"
    prior: Literal["none", "subtract"] = "none"
    confidence: bool = True
    alpha: float = 0.5
    beta: float = 0.5
    aggregate: Literal["average", "min"] = "average"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"k={self.k}: give at least 1")
        if self.prior == "subtract" and self.criterion not in ("soft", "log"):
            raise UsageError(f"prior=subtract needs criterion=soft or log, not {self.criterion}")
        for name in ("alpha", "beta"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name}={getattr(self, name)}: give a number from 0 to 1")

    @property
    def bounded(self) -> bool:
        """Whether a factor's score is from 0 to 1."""
        return self.criterion != "log" and self.prior == "none"
