"""What can be chosen about SPEED."""

from dataclasses import dataclass
from typing import Literal

from gistmeter.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class SpeedOptions:
    """Options of SPEED; the defaults are the paper's.

    Args:
        against: What the candidate's sentences are matched with. `source` needs no references.
        value: Which part is the value. `precision` is the paper's: the mean over the candidate's
            sentences. `recall` is the mean over the other text's, `f1` both, `min` the worst sentence.
        match: `greedy` takes each sentence's best match, `optimal` pairs them one to one (section 4.4.2).
        norm: Optimal matching divides by the smaller (`min`) or the larger (`max`) number of sentences.
        ensemble: Several models are averaged (eq. 1) or max-voted (eq. 2).
        references: Several references: the `mean` over them, the best (`max`), or all sentences `pooled`.
        mode: `encoder` takes the cosine of sentence embeddings (eq. 1 to the letter); `cross` lets
            cross-encoders among the models score sentence pairs themselves.
        task: What a cross-encoder is asked: the `similarity` of two sentences, or (`nli`) whether source
            sentences entail the candidate's: p(entailment) − p(contradiction), from −1 to 1. The source
            sentences most similar to the candidate's are premises, singly and joined; the best one counts.

    Raises:
        UsageError: If `task=nli` is combined with options that have no meaning for it.
    """

    against: Literal["references", "source"] = "references"
    value: Literal["precision", "recall", "f1", "min"] = "precision"
    match: Literal["greedy", "optimal"] = "greedy"
    norm: Literal["min", "max"] = "min"
    ensemble: Literal["mean", "max"] = "mean"
    references: Literal["mean", "max", "pooled"] = "mean"
    mode: Literal["encoder", "cross"] = "encoder"
    task: Literal["similarity", "nli"] = "similarity"

    def __post_init__(self) -> None:
        if self.task == "similarity":
            return
        wanted = {
            "mode": ("cross",),
            "against": ("source",),
            "value": ("precision", "min"),
            "match": ("greedy",),
        }
        for name, allowed in wanted.items():
            if getattr(self, name) not in allowed:
                raise UsageError(f"task=nli needs {name}={' or '.join(allowed)}")
