"""Regressors on disk: what training changed, in half precision, and the name of the encoder it builds on."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

import torch

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.files.adapters import read_tuned, restore_tuned
from gistmeter.models.files.load import ModelFiles, find_model, load_tokenizer, load_weights
from gistmeter.models.rate.bigru import BiGru
from gistmeter.models.rate.regressor import FirstState, Flavour, QualityRegressor
from gistmeter.models.run.tokens import window_of
from gistmeter.models.run.types import Model

QUALITY_REGRESSOR = "gistmeter-rater"
"""What the configuration of a regressor says."""


@dataclass(frozen=True, slots=True)
class RegressorPlan:
    """How a regressor is built.

    Args:
        qualities: What it rates, in order.
        flavour: `s1` has an encoder and a head for each quality, `m1` one encoder and one head, `m5` one
            encoder and a head for each.
        encoder: `transformer`, or `bigru` on the token embeddings of `base`.
        layers: Of a transformer, how many layers are trained, counted from the top, the embeddings frozen;
            0 trains all of it, as the paper does. Of a `bigru`, how many there are.
        window: Most tokens that it reads at once; less if the base has less room.
        hidden: Width of each direction of a `bigru`.

    Raises:
        UsageError: If there is no such flavour or encoder, or a number is out of range.
    """

    qualities: Sequence[str]
    flavour: Flavour = "m5"
    encoder: Literal["transformer", "bigru"] = "transformer"
    layers: int = 0
    window: int = 512
    hidden: int = 128

    def __post_init__(self) -> None:
        for name, choices in (("flavour", get_args(Flavour)), ("encoder", ("transformer", "bigru"))):
            if getattr(self, name) not in choices:
                raise UsageError(f"model.{name}={getattr(self, name)}: choose one of {', '.join(choices)}")
        least = 1 if self.encoder == "bigru" else 0
        if self.layers < least:
            raise UsageError(f"model.layers={self.layers}: give {least} or more for encoder={self.encoder}")
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
        base: Name of the encoder, as `find_model` knows it.
        plan: How.
        seed: Of what it begins with where nothing is given.
        **config: Overrides of the encoder's configuration.

    Returns:
        The regressor, the encoder's tokenizer, and the plan with the window that the encoder has.

    Raises:
        ModelNotFound: If there is no such encoder.
        BadModel: If it cannot be trained as asked.
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
    """Return what `save_tuned` has to write down of a plan."""
    return asdict(plan)


def load_regressor(files: ModelFiles) -> tuple[QualityRegressor, Any, RegressorPlan]:
    """Load a regressor, its tokenizer and its plan.

    Raises:
        ModelNotFound: If its encoder is not to be had.
        BadModel: If it is another kind of model, a file is damaged, or the encoder is another one than it
            was trained on.
    """
    facts = read_tuned(files, QUALITY_REGRESSOR)
    try:
        known = {field.name: facts[field.name] for field in fields(RegressorPlan)}
        plan = RegressorPlan(**{**known, "qualities": tuple(map(str, known["qualities"]))})
    except (KeyError, TypeError, UsageError) as error:
        raise BadModel(f"{files.folder / 'config.json'} does not describe a regressor: {error}") from error
    regressor, tokenizer, plan = new_regressor(str(facts["base"]), plan)
    restore_tuned(regressor, files)
    return regressor.eval(), tokenizer, plan


def joined(regressors: Sequence[QualityRegressor]) -> QualityRegressor:
    """Make one S-1 regressor of regressors that rate one quality each."""
    width = regressors[0].heads[0].in_features
    if not isinstance(width, int):
        raise TypeError("a head without a width")
    whole = QualityRegressor([one.encoders[0] for one in regressors], width, [1] * len(regressors))
    whole.heads = torch.nn.ModuleList(one.heads[0] for one in regressors)
    return whole


def _encoder(model: Model, plan: RegressorPlan, base: str) -> torch.nn.Module:
    """Freeze what is not trained: the pooler, which nothing reads, and what lies below the top layers."""
    if plan.encoder == "bigru":
        table = model.get_input_embeddings().weight.detach()
        return BiGru(table, hidden=plan.hidden, layers=plan.layers)
    for name, weight in model.named_parameters():
        weight.requires_grad = not (plan.layers or name.startswith("pooler."))
    if plan.layers:
        layers = getattr(getattr(model, "encoder", None), "layer", None)
        if layers is None or plan.layers > len(layers):
            there = "no list of layers" if layers is None else f"{len(layers)} layers"
            raise BadModel(f"{base} has {there}, so layers={plan.layers} of it cannot be trained")
        for layer in layers[-plan.layers :]:
            layer.requires_grad_(True)
    return FirstState(model)
