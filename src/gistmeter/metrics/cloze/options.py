"""Options of ClozE."""

from dataclasses import dataclass
from typing import Literal

from gistmeter.core.errors import UsageError

Criterion = Literal["f1", "bag", "exact", "soft", "geometric"]
Aggregate = Literal["average", "geometric", "min", "sentences"]


@dataclass(frozen=True, slots=True)
class ClozeOptions:
    """Options of ClozE; the defaults are those of the authors' code.

    Args:
        k: Number of consecutive factors blanked in one query (sections 3.4 and 5); at least 1.
        level: Text of a query: one `sentence`, or the whole `summary` (section 3.5).
        selection: Kinds of factors. `entity` or `noun` uses one kind only. `entity_first` uses all named
            entities, plus the noun chunks that overlap none of them; `noun_first` the reverse.
        criterion: Comparison of the prediction with the factor. `f1` is token F1 by set membership, as in the
            authors' code. `bag` is token F1 with counts, as in SQuAD. `exact` is 1 if the texts are equal
            ignoring case, otherwise 0. `soft` is the mean probability of the factor's tokens, and
            `geometric` their geometric mean.
        definition: Treatment of an F1 equal to beta by the rule of `confidence`. `authors` treats it as low,
            as the authors' code, which adds 1e-12 to the denominator of F1. `paper` does not (section 3.6).
        prior: `subtract` fills each blank again without the document and subtracts that score, so that the
            score measures the contribution of the document. Requires `criterion=soft` or `geometric`.
        confidence: Whether a prediction with a score below beta and a confidence below alpha scores 0
            (section 3.6). Has no effect with `criterion=geometric` or `prior=subtract`.
        alpha: Confidence threshold, from 0 to 1. A differing prediction at or above it is suggested as a
            correction.
        beta: Score threshold, from 0 to 1.
        aggregate: Value of a candidate: the `average` over its factors (equation 2), their `geometric` mean,
            to which low scores matter more, the lowest factor score (`min`), or the mean over its `sentences`
            of the geometric mean of their factors.
        window: Maximum number of tokens that the model reads, special ones included (section 4.3.4); of each
            text for models with separate windows. 0 gives the model's own window.
        passage: Maximum number of document tokens in a question: those of the sentences that are most similar
            to its text; for models with separate windows, to one of the candidate's texts, so that they read
            a passage once. 0 gives the beginning of the document, as much as the window holds, as in the
            paper.
        copied: Whether the factors of a text that stands in the document word for word have the score 1
            without a question. With `level=sentence`, a text is a sentence. Parts of sentences count in
            English only, and not after words such as "that" and "denied", which may change what they say.

    Raises:
        UsageError: If a number is out of range, or `prior=subtract` is combined with a criterion other than
            `soft` and `geometric`, or with `aggregate=geometric` or `sentences`.
    """

    k: int = 1
    level: Literal["sentence", "summary"] = "sentence"
    selection: Literal["entity_first", "noun_first", "entity", "noun"] = "entity_first"
    criterion: Criterion = "f1"
    definition: Literal["authors", "paper"] = "authors"
    prior: Literal["none", "subtract"] = "none"
    confidence: bool = True
    alpha: float = 0.5
    beta: float = 0.5
    aggregate: Aggregate = "average"
    window: int = 0
    passage: int = 0
    copied: bool = False

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"k={self.k}: give at least 1")
        for name in ("window", "passage"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name}={getattr(self, name)}: give at least 0")
        if self.prior == "subtract" and self.criterion not in ("soft", "geometric"):
            raise UsageError(f"prior=subtract needs criterion=soft or geometric, not {self.criterion}")
        if self.prior == "subtract" and self.aggregate in ("geometric", "sentences"):
            raise UsageError("prior=subtract gives negative scores; use aggregate=average or min")
        for name in ("alpha", "beta"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name}={getattr(self, name)}: give a number from 0 to 1")

    @property
    def distrusts(self) -> bool:
        """Whether the rule of `confidence` applies."""
        return self.confidence and self.criterion != "geometric" and self.prior == "none"
