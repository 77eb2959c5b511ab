"""The training task of the entailment model: data options, loss and validation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from gistmeter.core.errors import DataError, UsageError
from gistmeter.models.run.batching import mask, pad
from gistmeter.training.batches import LengthBatches
from gistmeter.training.loop import trainable_weights

AT_ONCE = 16
"""Pairs per validation batch."""


@dataclass(frozen=True, slots=True)
class EntailData:
    """The `data` table of a recipe, except `folder`, `sets` and `synthetic`.

    Args:
        parts: Hold out one in `parts` premises for validation.
        batch: Pairs per step.
        pool: Batches per pool of pairs sorted by length; see `LengthBatches`.
        window: Maximum number of tokens per pair; the longer side of a longer pair is truncated at its end.
        sentences: Maximum number of sentences of a premise; from longer premises, the sentences with the
            highest overlap with the hypothesis are kept.
        teaching: Weight of the teacher's probabilities in the loss, from 0 to 1; the labels have the rest.
            Only used if the recipe names a `model.teacher`.
    """

    parts: int = 20
    batch: int = 16
    pool: int = 16
    window: int = 224
    sentences: int = 4
    teaching: float = 0.5

    def __post_init__(self) -> None:
        for name, least in (("parts", 2), ("batch", 1), ("pool", 1), ("window", 16), ("sentences", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"data.{name}={getattr(self, name)}: give at least {least}")
        if not 0 <= self.teaching <= 1:
            raise UsageError(f"data.teaching={self.teaching}: give a number from 0 to 1")


@dataclass(frozen=True, slots=True)
class Encoded:
    """A tokenized labeled pair."""

    ids: tuple[int, ...]
    allowed: tuple[int, ...]
    set: str


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """A sequence classifier with one output per class.

    Args:
        model: The classifier.
        padding: Padding id of its tokenizer.
    """

    model: torch.nn.Module
    padding: int

    def logits(self, pairs: Sequence[Encoded]) -> torch.Tensor:
        """Return its outputs, shape (pairs, classes)."""
        rows = [pair.ids for pair in pairs]
        device = next(self.model.parameters()).device
        output = self.model(input_ids=pad(rows, self.padding, device), attention_mask=mask(rows, device))
        logits: torch.Tensor = output.logits
        return logits.float()


@dataclass(frozen=True, slots=True, eq=False)
class Teacher:
    """A larger entailment model whose probabilities a smaller one learns.

    Args:
        classifier: The model.
        pairs: The training pairs, tokenized for it.
    """

    classifier: Classifier
    pairs: Sequence[Encoded]

    def probabilities(self, rows: Sequence[int]) -> torch.Tensor:
        """Return the class probabilities of training pairs, shape (pairs, classes)."""
        with torch.no_grad():
            return self.classifier.logits([self.pairs[at] for at in rows]).softmax(dim=1)


class EntailTask:
    """Three-class cross-entropy; for binary labels, the probabilities of the allowed classes are summed.

    With a teacher, the loss is the weighted sum of this cross-entropy and of that with the probabilities of
    the teacher (Hinton, Vinyals and Dean 2015, arXiv 1503.02531, section 2, at temperature 1).

    Args:
        student: The classifier to train.
        training: Training pairs.
        validation: Validation pairs.
        data: Batch options.
        seed: Seed of the order of pairs.
        teacher: See `Teacher`.

    Raises:
        DataError: If there are no training pairs or no validation pairs.
    """

    def __init__(
        self,
        student: Classifier,
        training: Sequence[Encoded],
        validation: Sequence[Encoded],
        *,
        data: EntailData,
        seed: int,
        teacher: Teacher | None = None,
    ) -> None:
        if not training or not validation:
            raise DataError("no labeled pairs for training, or none held out; add rows to data.sets")
        self.model, self.student = student.model, student
        self.training, self.teacher, self.teaching = training, teacher, data.teaching
        self.validation = sorted(validation, key=lambda pair: len(pair.ids))
        lengths = [len(pair.ids) for pair in training]
        self.batches = LengthBatches(lengths, data.batch, data.pool, seed)

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """Return the low-rank updates and the head, in one group."""
        return [{"params": trainable_weights(self.model)}]

    def loss(self, step: int) -> torch.Tensor:
        """Return the mean loss of a batch."""
        rows = self.batches.rows_of(step)
        pairs = [self.training[at] for at in rows]
        logits = self.student.logits(pairs)
        labels = class_loss(logits, pairs).mean()
        if self.teacher is None:
            return labels
        taught = torch.nn.functional.cross_entropy(logits, self.teacher.probabilities(rows))
        return (1 - self.teaching) * labels + self.teaching * taught

    def validate(self) -> dict[str, float]:
        """Return the loss, the accuracy of each data set (binary if its labels are), and their mean."""
        losses: list[float] = []
        right: dict[str, list[float]] = {}
        for at in range(0, len(self.validation), AT_ONCE):
            some = self.validation[at : at + AT_ONCE]
            logits = self.student.logits(some)
            losses += class_loss(logits, some).tolist()
            for pair, row in zip(some, logits.softmax(dim=1).tolist(), strict=True):
                right.setdefault(pair.set, []).append(float(_is_right(row, pair.allowed)))
        accuracy = {f"accuracy_{name}": sum(own) / len(own) for name, own in sorted(right.items())}
        mean = sum(accuracy.values()) / len(accuracy)
        return {"loss": sum(losses) / len(losses), "accuracy": mean, **accuracy}


def class_loss(logits: torch.Tensor, pairs: Sequence[Encoded]) -> torch.Tensor:
    """Return −log of the summed probability of the allowed classes, shape (pairs,)."""
    allowed = torch.full_like(logits, -torch.inf)
    for row, pair in enumerate(pairs):
        allowed[row, list(pair.allowed)] = 0.0
    return -(logits.log_softmax(dim=1) + allowed).logsumexp(dim=1)


def _is_right(probabilities: Sequence[float], allowed: Sequence[int]) -> bool:
    if len(allowed) > 1:  # a binary data set
        return probabilities[0] < 0.5
    best = max(range(len(probabilities)), key=probabilities.__getitem__)
    return best in allowed
