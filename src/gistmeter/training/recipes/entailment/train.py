"""Train an encoder to classify whether a premise entails a hypothesis."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.options import options_from
from gistmeter.models.encode.cross_encoder import longest_first
from gistmeter.models.files.adapted import AdapterPlan, new_adapted, save_adapted, trainee_from
from gistmeter.models.run.batching import mask, pad
from gistmeter.models.run.types import Model, Tokenizer
from gistmeter.models.run.vocabulary import Vocabulary
from gistmeter.training.batches import LengthBatches
from gistmeter.training.loop import kept, train, trainable_weights
from gistmeter.training.queries import MODEL
from gistmeter.training.recipe import Recipe, check_keys
from gistmeter.training.recipes.entailment.rows import CLASSES, Labelled, evidence, read_labelled
from gistmeter.training.recipes.entailment.synthetic import read_synthetic

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
    """

    parts: int = 20
    batch: int = 16
    pool: int = 16
    window: int = 224
    sentences: int = 4

    def __post_init__(self) -> None:
        for name, least in (("parts", 2), ("batch", 1), ("pool", 1), ("window", 16), ("sentences", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"data.{name}={getattr(self, name)}: give at least {least}")


@dataclass(frozen=True, slots=True)
class Encoded:
    """A tokenized labeled pair."""

    ids: tuple[int, ...]
    allowed: tuple[int, ...]
    set: str


class EntailTask:
    """Three-class cross-entropy; for binary labels, the probabilities of the allowed classes are summed.

    Args:
        model: Sequence classifier with one output per class.
        padding: Padding id of the tokenizer.
        training: Training pairs.
        validation: Validation pairs.
        data: Batch options.
        seed: Seed of the order of pairs.

    Raises:
        DataError: If there are no training pairs or no validation pairs.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        padding: int,
        training: Sequence[Encoded],
        validation: Sequence[Encoded],
        *,
        data: EntailData,
        seed: int,
    ) -> None:
        if not training or not validation:
            raise DataError("no labeled pairs for training, or none held out; add rows to data.sets")
        self.model, self.padding = model, padding
        self.training = training
        self.validation = sorted(validation, key=lambda pair: len(pair.ids))
        lengths = [len(pair.ids) for pair in training]
        self.batches = LengthBatches(lengths, data.batch, data.pool, seed)

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """Return the low-rank updates and the head, in one group."""
        return [{"params": trainable_weights(self.model)}]

    def loss(self, step: int) -> torch.Tensor:
        """Return the mean loss of a batch."""
        return self._loss([self.training[at] for at in self.batches.rows_of(step)]).mean()

    def validate(self) -> dict[str, float]:
        """Return the loss, the accuracy of each data set (binary if its labels are), and their mean."""
        losses: list[float] = []
        right: dict[str, list[float]] = {}
        for at in range(0, len(self.validation), AT_ONCE):
            some = self.validation[at : at + AT_ONCE]
            logits = self._logits(some)
            losses += class_loss(logits, some).tolist()
            for pair, row in zip(some, logits.softmax(dim=1).tolist(), strict=True):
                right.setdefault(pair.set, []).append(float(_is_right(row, pair.allowed)))
        accuracy = {f"accuracy_{name}": sum(own) / len(own) for name, own in sorted(right.items())}
        mean = sum(accuracy.values()) / len(accuracy)
        return {"loss": sum(losses) / len(losses), "accuracy": mean, **accuracy}

    def _loss(self, pairs: Sequence[Encoded]) -> torch.Tensor:
        return class_loss(self._logits(pairs), pairs)

    def _logits(self, pairs: Sequence[Encoded]) -> torch.Tensor:
        rows = [pair.ids for pair in pairs]
        device = next(self.model.parameters()).device
        output = self.model(input_ids=pad(rows, self.padding, device), attention_mask=mask(rows, device))
        logits: torch.Tensor = output.logits
        return logits.float()


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


def encode_pairs(pairs: Sequence[Labelled], tokenizer: Tokenizer, data: EntailData) -> list[Encoded]:
    """Tokenize labeled pairs; long premises are reduced to the sentences closest to the hypothesis."""
    texts = [(evidence(p.premise, p.hypothesis, most=data.sentences), p.hypothesis) for p in pairs]
    vocabulary = Vocabulary(tokenizer)
    room = data.window - vocabulary.added(2)
    tokens = iter(vocabulary.tokenize([text for both in texts for text in both]))
    encoded = []
    for pair, first, second in zip(pairs, tokens, tokens, strict=True):
        a, b = longest_first(len(first.ids), len(second.ids), room)
        ids = vocabulary.join(first.ids[:a], second.ids[:b]).ids
        encoded.append(Encoded(ids, pair.allowed, pair.set))
    return encoded


def train_entailment(recipe: Recipe, data: Path, output: Path, *, progress: bool) -> dict[str, float]:
    """Train the entailment model of a recipe and save it.

    Args:
        recipe: Recipe such as `recipes/entail-base.toml`.
        data: Data folder.
        output: Output folder; the model is saved in its subfolder `model`.
        progress: Whether to show progress.

    Returns:
        The metrics of the validation whose weights were kept.

    Raises:
        UsageError: If the recipe is invalid.
        DataError: If a data file is missing or has no matching row.
        ModelError: If the base model is missing or cannot be loaded.
    """
    check_keys(recipe.model, ("base", "rank", "start"), recipe.name)
    given = {
        name: value for name, value in recipe.data.items() if name not in ("folder", "sets", "synthetic")
    }
    options = options_from(EntailData, given)
    seed = recipe.training.seed
    found = trainee_from(recipe.model, _classifier, seed=seed)
    tokenizer = found.tokenizer
    training, validation = read_labelled(data, recipe.data["sets"], parts=options.parts, seed=seed)
    if "synthetic" in recipe.data:
        made = read_synthetic(data, recipe.data["synthetic"], parts=options.parts)
        training, validation = training + made[0], validation + made[1]
    encoded = (encode_pairs(training, tokenizer, options), encode_pairs(validation, tokenizer, options))
    task = EntailTask(found.model, tokenizer.pad_token_id, *encoded, data=options, seed=seed)
    history = train(task, recipe.training, output, progress=progress)
    save_adapted(found.model, found.base, _plan(found.rank), output / MODEL)
    return kept(history["validations"], recipe.training.select)


def _plan(rank: int) -> AdapterPlan:
    return AdapterPlan("AutoModelForSequenceClassification", rank, CLASSES)


def _classifier(base: str, rank: int, *, seed: int, **config: object) -> tuple[Model, Tokenizer]:
    return new_adapted(base, _plan(rank), seed=seed, **config)
