"""Loads and saves regressors: the trained weights in half precision and the name of the encoder."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

import torch

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.files.adapters import read_tuned, restore_tuned
from gistmeter.models.files.find import ModelFiles, find_model
from gistmeter.models.files.load import load_tokenizer, load_weights
from gistmeter.models.files.low_rank import LARGEST_RANK, add_low_rank, merge_low_rank
from gistmeter.models.rate.bigru import BiGru
from gistmeter.models.rate.regressor import FirstState, Flavour, QualityRegressor
from gistmeter.models.run.tokens import window_of
from gistmeter.models.run.types import Model

QUALITY_REGRESSOR = "gistmeter-rater"
"""The `model_type` in the configuration of a regressor."""


@dataclass(frozen=True, slots=True)
class RegressorPlan:
    """The architecture of a regressor.

    Args:
        qualities: The names of the qualities, in output order.
        flavour: `s1` has one encoder and one head per quality, `m1` one encoder and one head for all
            qualities, `m5` one encoder and one head per quality.
        encoder: `transformer`, or `bigru` on the token embeddings of the base model.
        layers: For a transformer, the number of trained layers from the top, with frozen embeddings; 0 trains
            all weights, as in the paper. For a `bigru`, the number of layers.
        window: Maximum number of input tokens; reduced to the window of the base model.
        hidden: The width of each direction of a `bigru`.
        rank: For a transformer, the rank of low-rank updates of the trained layers; 0 trains the weights
            themselves.

    Raises:
        UsageError: If the flavour or the encoder is unknown, or a number is out of range.
    """

    qualities: Sequence[str]
    flavour: Flavour = "m5"
    encoder: Literal["transformer", "bigru"] = "transformer"
    layers: int = 0
    window: int = 512
    hidden: int = 128
    rank: int = 0

    def __post_init__(self) -> None:
        for name, choices in (("flavour", get_args(Flavour)), ("encoder", ("transformer", "bigru"))):
            if getattr(self, name) not in choices:
                raise UsageError(f"model.{name}={getattr(self, name)}: choose one of {', '.join(choices)}")
        least = 1 if self.encoder == "bigru" else 0
        if self.layers < least:
            raise UsageError(f"model.layers={self.layers}: give {least} or more for encoder={self.encoder}")
        if not 0 <= self.rank <= (0 if self.encoder == "bigru" else LARGEST_RANK):
            raise UsageError(f"model.rank={self.rank}: give 0 to {LARGEST_RANK}, and 0 for encoder=bigru")
        if self.window < 8 or self.hidden < 1:
            raise UsageError(
                f"model.window={self.window}, model.hidden={self.hidden}: "
                "give a window of 8 or more and a hidden width of 1 or more"
            )


def new_regressor(
    base: str, plan: RegressorPlan, *, seed: int = 1, **config: object
) -> tuple[QualityRegressor, Any, RegressorPlan]:
    """Build an untrained regressor.

    Args:
        base: The name of the encoder, as in `find_model`.
        plan: The architecture.
        seed: The random seed of the initial weights.
        **config: Overrides for the configuration of the encoder.

    Returns:
        The regressor, the tokenizer of the encoder, and the plan with the actual window.

    Raises:
        ModelNotFound: If the encoder does not exist.
        BadModel: If the encoder does not have the layers to train.
    """
    files = find_model(base)
    tokenizer = load_tokenizer(files)
    torch.manual_seed(seed)
    count = len(plan.qualities)
    models = [
        load_weights(files, "AutoModel", tokenizer, **config)
        for _ in range(count if plan.flavour == "s1" else 1)
    ]
    encoders = [_encoder(model, plan, base) for model in models]
    width = 2 * plan.hidden if plan.encoder == "bigru" else models[0].config.hidden_size
    room = window_of(models[0], tokenizer) if plan.encoder == "transformer" else None
    sizes = [count] if plan.flavour == "m1" else [1] * count
    return (
        QualityRegressor(encoders, width, sizes),
        tokenizer,
        replace(plan, window=min(plan.window, room or 10**6)),
    )


def facts_of(plan: RegressorPlan) -> dict[str, object]:
    """Return the plan as values for `save_tuned`."""
    return asdict(plan)


def load_regressor(files: ModelFiles) -> tuple[QualityRegressor, Any, RegressorPlan]:
    """Load a regressor, its tokenizer and its plan.

    Raises:
        ModelNotFound: If the encoder is not available.
        BadModel: If the model is of another kind, a file is damaged, or the encoder is not the one used in
            training.
    """
    facts = read_tuned(files, QUALITY_REGRESSOR)
    try:
        # A model that was saved before an option existed uses the option's default.
        known = {field.name: facts[field.name] for field in fields(RegressorPlan) if field.name in facts}
        plan = RegressorPlan(**{**known, "qualities": tuple(map(str, known["qualities"]))})
    except (KeyError, TypeError, UsageError) as error:
        raise BadModel(
            f"{files.folder / 'config.json'} does not describe a regressor ({error}); train it again"
        ) from error
    regressor, tokenizer, plan = new_regressor(str(facts["base"]), plan)
    restore_tuned(regressor, files)
    merge_low_rank(regressor)
    return regressor.eval(), tokenizer, plan


def joined(regressors: Sequence[QualityRegressor]) -> QualityRegressor:
    """Combine single-quality regressors into one S-1 regressor."""
    width = regressors[0].heads[0].in_features
    if not isinstance(width, int):
        raise TypeError("the head of the first regressor has no width")
    whole = QualityRegressor([one.encoders[0] for one in regressors], width, [1] * len(regressors))
    whole.heads = torch.nn.ModuleList(one.heads[0] for one in regressors)
    return whole


def _encoder(model: Model, plan: RegressorPlan, base: str) -> torch.nn.Module:
    """Build the encoder; freeze the unused pooler and the layers below the trained ones."""
    if plan.encoder == "bigru":
        table = model.get_input_embeddings().weight.detach()
        return BiGru(table, hidden=plan.hidden, layers=plan.layers)
    for name, weight in model.named_parameters():
        weight.requires_grad = not (plan.layers or plan.rank or name.startswith("pooler."))
    for layer in _trained_layers(model, plan, base) if plan.layers or plan.rank else ():
        if plan.rank:
            add_low_rank(layer, rank=plan.rank)
        else:
            layer.requires_grad_(True)
    return FirstState(model)


def _trained_layers(model: Model, plan: RegressorPlan, base: str) -> Sequence[torch.nn.Module]:
    layers = getattr(getattr(model, "encoder", None), "layer", None)
    if layers is None or plan.layers > len(layers):
        there = "no list of layers" if layers is None else f"{len(layers)} layers"
        raise BadModel(
            f"{base} has {there}; layers={plan.layers} is not possible: use fewer layers, or 0 for all"
        )
    chosen: Sequence[torch.nn.Module] = layers[-plan.layers :]
    return chosen
