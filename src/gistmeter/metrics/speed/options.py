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
            source sentences entail the candidate sentence: p(entailment) − p(contradiction), from −1 to 1.
            Premises are the most similar source sentences, alone and joined; the highest score counts. A
            sentence that stands in the source word for word has 1, and the model is not asked.
            `entailment` is `nli` without the contradiction: p(entailment), from 0 to 1, which is 0 for an
            invented sentence, too.
        similarity: With `task=nli` or `entailment`, the weight of the cosine similarity to the most similar
            source sentence, from 0 to 1; the entailment score has the rest. Entailment alone says little
            where sentences are copied, because nearly all of them are entailed.
        language: Language of the model, or several as `de+en`; rows in another language have no value. `xx`
            for a model of any language. It also decides where sentences end, unless a row names its own;
            of several, the one that a text seems to be in.
        baseline: Similarity that becomes 0, so that values spread: `none`, a number, or, for the preset
            `multilingual`, `language`: the mean of unrelated sentences of the row's language.

    Raises:
        UsageError: If `task=nli` or `entailment` is combined with options that do not support it, or a
            number is out of range.
    """

    against: Literal["references", "source"] = "references"
    value: Literal["precision", "recall", "f1", "min"] = "precision"
    match: Literal["greedy", "optimal"] = "greedy"
    norm: Literal["min", "max"] = "min"
    ensemble: Literal["mean", "max"] = "mean"
    references: Literal["mean", "max", "pooled"] = "mean"
    mode: Literal["encoder", "cross"] = "encoder"
    task: Literal["similarity", "nli", "entailment"] = "similarity"
    similarity: float = 0.7
    language: str = "en"
    baseline: str = NONE

    def __post_init__(self) -> None:
        if not 0 <= self.similarity <= 1:
            raise UsageError(f"similarity={self.similarity}: give a weight from 0 to 1")
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
