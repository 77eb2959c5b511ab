"""Options of SPEED."""

from dataclasses import dataclass
from typing import Literal

from gistmeter.core.errors import UsageError
from gistmeter.metrics.speed.rescale import NONE, check_baseline


@dataclass(frozen=True, slots=True)
class SpeedOptions:
    """Options of SPEED; the defaults are the paper's.

    Args:
        against: Texts that the candidate's sentences are matched with. `source` requires no references.
        value: Component reported as the value. `precision`, as in the paper, is the mean over the candidate's
            sentences. `recall` is the mean over the sentences of the other text, `f1` combines both, and
            `min` is the lowest similarity of a candidate sentence. The preset `multilingual` reports `f1`
            against references by default.
        match: `greedy` uses the best match of each sentence; `optimal` matches sentences one to one
            (section 4.4.2).
        norm: Divisor of optimal matching: the smaller (`min`) or the larger (`max`) number of sentences.
        ensemble: Combination of several models: `mean` (equation 1) or `max` (equation 2).
        references: Combination of several references: `mean`, `max` (the best one), or `pooled` (all
            sentences as one text).
        mode: `encoder` uses the cosine of sentence embeddings (equation 1). `cross` uses the pair scores of
            the models that are cross-encoders.
        task: Question for cross-encoders. `similarity` compares two sentences. `nli` measures whether
            source sentences entail the candidate sentence: p(entailment), less a share of p(contradiction).
            Premises are the most similar source sentences, alone and joined; the highest score counts. A
            sentence that stands in the source word for word has 1, and the model is not asked.
        contradiction: With `task=nli`, the share of p(contradiction) that is subtracted, from 0 to 1. With 1,
            an invented sentence, which is neither entailed nor contradicted, is in the middle of the range.
        similarity: With `task=nli`, the weight of the cosine similarity to the most similar source sentence,
            from 0 to 1; the entailment score has the rest. Similarity says more where sentences are copied.
        language: Language of the model, or several as `de+en`; rows in another language have no value. `xx`
            for a model of any language. It also decides where sentences end, unless a row names its own;
            of several, the one that a text seems to be in.
        baseline: Similarity that becomes 0, so that values spread: `none`, a number, or, for the preset
            `multilingual`, `language`: the mean of unrelated sentences of the row's language.

    Raises:
        UsageError: If `task=nli` is combined with options that do not support it, or a
            number is out of range.
    """

    against: Literal["references", "source"] = "references"
    value: Literal["precision", "recall", "f1", "min"] = "precision"
    match: Literal["greedy", "optimal"] = "greedy"
    norm: Literal["min", "max"] = "min"
    ensemble: Literal["mean", "max"] = "mean"
    references: Literal["mean", "max", "pooled"] = "mean"
    mode: Literal["encoder", "cross"] = "encoder"
    task: Literal["similarity", "nli"] = "similarity"
    contradiction: float = 0.3
    similarity: float = 0.5
    language: str = "en"
    baseline: str = NONE

    def __post_init__(self) -> None:
        for name in ("contradiction", "similarity"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name}={getattr(self, name)}: give a weight from 0 to 1")
        check_baseline(self.baseline)
        if self.task == "similarity":
            return
        wanted = {
            "mode": ("cross",),
            "against": ("source",),
            "value": ("precision", "min"),
            "match": ("greedy",),
            "baseline": (NONE,),
        }
        for name, allowed in wanted.items():
            if getattr(self, name) not in allowed:
                raise UsageError(f"task={self.task} needs {name}={' or '.join(allowed)}")
