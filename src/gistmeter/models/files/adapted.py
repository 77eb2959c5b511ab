"""Loads and saves models that add low-rank updates and a head to a published encoder.

Only the updates and the head are stored, in float16 in `model.safetensors`. The `config.json` names the
encoder, its identity, the architecture and the rank; see `models.files.adapters`.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch

from gistmeter.core.errors import BadModel
from gistmeter.models.files.adapters import read_tuned, restore_tuned, save_tuned
from gistmeter.models.files.find import ModelFiles, find_model
from gistmeter.models.files.load import load_tokenizer, load_weights
from gistmeter.models.files.low_rank import LARGEST_RANK, add_low_rank, merge_low_rank
from gistmeter.models.run.types import Model, Tokenizer

KIND = "gistmeter-adapted"
"""The `model_type` in the configuration of an adapted model."""


@dataclass(frozen=True, slots=True)
class AdapterPlan:
    """The architecture of an adapted model.

    Args:
        architecture: The `Auto…` class of transformers that adds the head, such as `AutoModelForMaskedLM`.
        rank: The rank of the low-rank updates.
        labels: Labels of a classifier head, in output order; empty for other heads.
    """

    architecture: str
    rank: int
    labels: tuple[str, ...] = ()


def new_adapted(base: str, plan: AdapterPlan, *, seed: int = 1, **config: object) -> tuple[Any, Any]:
    """Build an adapted model with zero updates and an untrained head.

    Args:
        base: The name of the encoder, as in `find_model`.
        plan: See `AdapterPlan`.
        seed: The random seed of the initial weights.
        **config: Overrides for the configuration of the encoder.

    Returns:
        The model and its tokenizer. Only the updates and the head require gradients.

    Raises:
        ModelNotFound: If the encoder is missing.
        BadModel: If the encoder cannot be loaded.
    """
    import transformers

    encoder, tokenizer = adapted_encoder(base, plan.rank, seed=seed, **config)
    if plan.labels:
        encoder.config.id2label = dict(enumerate(plan.labels))  # also sets the number of labels
    try:
        model = getattr(transformers, plan.architecture).from_config(encoder.config, trust_remote_code=False)
    except (AttributeError, ValueError) as error:
        raise BadModel(f"{base} does not support {plan.architecture}; give another architecture") from error
    # BERT's classifier reads a pooler, which is part of the untrained head; other heads have none.
    encoder.pooler = getattr(model.base_model, "pooler", None)
    setattr(model, model.base_model_prefix, encoder)
    model.tie_weights()
    return model, tokenizer


def adapted_encoder(base: str, rank: int, *, seed: int = 1, **config: object) -> tuple[Any, Any]:
    """Load an encoder and add low-rank updates that are zero.

    Args:
        base: The name of the encoder, as in `find_model`.
        rank: The rank of the updates.
        seed: The random seed of the initial weights, also of a head that the caller builds next.
        **config: Overrides for the configuration of the encoder.

    Returns:
        The encoder and its tokenizer. Only the updates require gradients.

    Raises:
        ModelNotFound: If the encoder is missing.
        BadModel: If the encoder cannot be loaded, or the rank is out of range.
    """
    if not 1 <= rank <= LARGEST_RANK:
        raise BadModel(f"low-rank updates of rank {rank}: the rank must be from 1 to {LARGEST_RANK}")
    files = find_model(base)
    tokenizer = load_tokenizer(files)
    encoder = load_weights(files, "AutoModel", tokenizer, **config)
    encoder.pooler = None
    torch.manual_seed(seed)
    add_low_rank(encoder, rank=rank)
    return encoder, tokenizer


@dataclass(frozen=True, slots=True)
class Trainee:
    """A model with low-rank updates, as a recipe describes it.

    Args:
        model: The model; only the updates and the head require gradients.
        tokenizer: Its tokenizer.
        base: The name of the encoder.
        rank: The rank of the updates.
    """

    model: Model
    tokenizer: Tokenizer
    base: str
    rank: int


def trainee_from(
    table: Mapping[str, Any], build: Callable[..., tuple[Model, Tokenizer]], *, seed: int
) -> Trainee:
    """Build the model of a recipe, without dropout, because training takes less than one epoch.

    Args:
        table: The `model` table of the recipe: `base`, `rank`, and optionally `start`, a model whose weights
            are the initial ones.
        build: Builds the untrained model from a base, a rank, a seed and changes to the configuration.
        seed: The random seed of the initial weights.

    Raises:
        ModelNotFound: If the encoder or the initial model is missing.
        BadModel: If one of them cannot be loaded.
    """
    base, rank = str(table.get("base", "mpnet")), int(table.get("rank", 16))
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model, tokenizer = build(base, rank, seed=seed, **dropout)
    if "start" in table:
        restore_tuned(model, find_model(str(table["start"])))
    return Trainee(model, tokenizer, base, rank)


def save_adapted(model: Model, base: str, plan: AdapterPlan, folder: Path) -> None:
    """Save the updates and the head in float16, with a `config.json` that names the encoder."""
    save_tuned(model, base, folder, kind=KIND, facts=asdict(plan))


def load_adapted(files: ModelFiles) -> tuple[Any, Any, AdapterPlan]:
    """Load an adapted model in evaluation mode, with the updates merged into the weights.

    Returns:
        The model, its tokenizer and its architecture.

    Raises:
        ModelNotFound: If the encoder is missing.
        BadModel: If a file is damaged, or the encoder is not the one that was used in training.
    """
    facts = read_tuned(files, KIND)
    plan = _plan(files, facts)
    model, tokenizer = new_adapted(str(facts["base"]), plan)
    restore_tuned(model, files)
    merge_low_rank(model)
    return model.eval(), tokenizer, plan


def _plan(files: ModelFiles, facts: Mapping[str, Any]) -> AdapterPlan:
    try:
        known = {field.name: facts[field.name] for field in fields(AdapterPlan)}
        return AdapterPlan(str(known["architecture"]), int(known["rank"]), tuple(map(str, known["labels"])))
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(
            f"{files.folder / 'config.json'} does not describe an adapted model: {error}"
        ) from error
