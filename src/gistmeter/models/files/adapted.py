"""Models that add low-rank updates and a head to a published encoder; only these are stored.

The folder is that of `tuned`: `model.safetensors` with the updates and the head in float16, and a
`config.json` with the encoder's name and identity, the architecture and the rank.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch

from gistmeter.core.errors import BadModel
from gistmeter.models.files.adapters import read_tuned, restore_tuned, save_tuned
from gistmeter.models.files.load import ModelFiles, find_model, load_tokenizer, load_weights
from gistmeter.models.files.low_rank import add_low_rank, merge_low_rank

KIND = "gistmeter-adapted"
"""The `model_type` in the configuration of an adapted model."""


@dataclass(frozen=True, slots=True)
class AdapterPlan:
    """How an adapted model is built.

    Args:
        architecture: The `Auto…` class of transformers that adds the head, such as `AutoModelForMaskedLM`.
        rank: Of the low-rank updates.
        labels: Outputs of a classifier's head, in their order; empty for other heads.
    """

    architecture: str
    rank: int
    labels: tuple[str, ...] = ()


def new_adapted(base: str, plan: AdapterPlan, *, seed: int = 1, **config: object) -> tuple[Any, Any]:
    """Build an adapted model whose updates are zero and whose head is untrained.

    Args:
        base: Name of the encoder, as `find_model` takes it.
        plan: See `AdapterPlan`.
        seed: Of the initial weights.
        **config: Overrides of the encoder's configuration.

    Returns:
        The model, of which only updates and head require gradients, and its tokenizer.

    Raises:
        ModelNotFound: If the encoder is missing.
        BadModel: If the encoder cannot be loaded.
    """
    import transformers

    files = find_model(base)
    tokenizer = load_tokenizer(files)
    encoder = load_weights(files, "AutoModel", tokenizer, **config)
    encoder.pooler = None  # no head reads it
    torch.manual_seed(seed)
    add_low_rank(encoder, rank=plan.rank)
    if plan.labels:
        encoder.config.id2label = dict(enumerate(plan.labels))  # sets the number of labels, too
    try:
        model = getattr(transformers, plan.architecture).from_config(encoder.config, trust_remote_code=False)
    except (AttributeError, ValueError) as error:
        raise BadModel(f"{base} cannot be built as {plan.architecture}") from error
    setattr(model, model.base_model_prefix, encoder)
    model.tie_weights()
    return model, tokenizer


def save_adapted(model: Any, base: str, plan: AdapterPlan, folder: Path) -> None:  # noqa: ANN401
    """Save updates and head in float16, with a `config.json` that names the encoder."""
    save_tuned(model, base, folder, kind=KIND, facts=asdict(plan))


def load_adapted(files: ModelFiles) -> tuple[Any, Any, AdapterPlan]:
    """Load an adapted model in evaluation mode, its updates merged into the weights.

    Returns:
        The model, its tokenizer and its plan.

    Raises:
        ModelNotFound: If the encoder is missing.
        BadModel: If a file is damaged, or the encoder differs from the one in training.
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
