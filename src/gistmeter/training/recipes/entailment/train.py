"""Train an encoder to classify whether a premise entails a hypothesis."""

from collections.abc import Sequence
from pathlib import Path

import torch

from gistmeter.core.errors import BadModel
from gistmeter.core.options import options_from
from gistmeter.models.encode.cross_encoder import longest_first
from gistmeter.models.files.adapted import (
    AdapterPlan,
    load_adapted,
    new_adapted,
    save_adapted,
    trainee_from,
)
from gistmeter.models.files.find import find_model
from gistmeter.models.run.types import Model, Tokenizer
from gistmeter.models.run.vocabulary import Vocabulary
from gistmeter.training.loop import kept, train
from gistmeter.training.queries import MODEL
from gistmeter.training.recipe import Recipe, check_keys
from gistmeter.training.recipes.entailment.rows import CLASSES, Labelled, evidence, read_labelled
from gistmeter.training.recipes.entailment.synthetic import read_synthetic
from gistmeter.training.recipes.entailment.task import Classifier, Encoded, EntailData, EntailTask, Teacher


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
    check_keys(recipe.model, ("base", "rank", "start", "teacher"), recipe.name)
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
    teacher = None
    if name := str(recipe.model.get("teacher", "")):
        teacher = _teacher(name, training, options, half=recipe.training.precision == "bf16")
    student = Classifier(found.model, tokenizer.pad_token_id)
    task = EntailTask(student, *encoded, data=options, seed=seed, teacher=teacher)
    history = train(task, recipe.training, output, progress=progress)
    save_adapted(found.model, found.base, _plan(found.rank), output / MODEL)
    return kept(history["validations"], recipe.training.select)


def _teacher(name: str, training: Sequence[Labelled], data: EntailData, *, half: bool) -> Teacher:
    model, tokenizer, plan = load_adapted(find_model(name))
    if half:  # once, instead of at every step
        model.to(torch.bfloat16)
    if plan.labels != CLASSES:
        raise BadModel(f"model.teacher={name} is no entailment model of gistmeter; give another")
    return Teacher(Classifier(model, tokenizer.pad_token_id), encode_pairs(training, tokenizer, data))


def _plan(rank: int) -> AdapterPlan:
    return AdapterPlan("AutoModelForSequenceClassification", rank, CLASSES)


def _classifier(base: str, rank: int, *, seed: int, **config: object) -> tuple[Model, Tokenizer]:
    return new_adapted(base, _plan(rank), seed=seed, **config)
