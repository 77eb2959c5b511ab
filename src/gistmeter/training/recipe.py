"""Recipes: everything that decides a training, in one TOML file."""

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from gistmeter.core.errors import DataError, UsageError
from gistmeter.training.files import CHECKPOINT, write_text
from gistmeter.training.shapes import check_shapes

Schedule = Literal["constant", "linear"]
Precision = Literal["fp32", "bf16"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How the loop runs.

    In a recipe, `epochs` may stand for `steps`; `validate_every` and `checkpoint_every` then count epochs,
    too, and are 1 where they are not given.

    Args:
        steps: How many batches.
        learning_rate: At its highest.
        optimizer: `adam`, or `adamw` with decoupled weight decay.
        weight_decay: Of `adamw`.
        warmup: Steps over which the learning rate rises from 0.
        schedule: What follows: `constant`, or `linear` down to 0 at the last step.
        clip: Largest norm of the gradient; 0 for none.
        precision: `bf16` runs the products of matrices in bfloat16 and keeps the weights in float32.
        validate_every: Steps between two validations.
        checkpoint_every: Steps between two checkpoints: what a kill may lose.
        select: The validation figure by which the best weights are kept; `-accuracy` for the highest
            accuracy; empty keeps the last weights.
        seed: Of the drawing of batches and of dropout.
    """

    steps: int
    learning_rate: float
    optimizer: Literal["adam", "adamw"] = "adamw"
    weight_decay: float = 0.01
    warmup: int = 0
    schedule: Schedule = "constant"
    clip: float = 0.0
    precision: Precision = "fp32"
    validate_every: int = 500
    checkpoint_every: int = 500
    select: str = "loss"
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("steps", "validate_every", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise UsageError(f"training.{name}={getattr(self, name)}: give at least 1")
        for name in ("warmup", "clip", "weight_decay"):
            if not getattr(self, name) >= 0:
                raise UsageError(f"training.{name}={getattr(self, name)}: give 0 or more")
        if not 0 < self.learning_rate < math.inf:
            raise UsageError(f"training.learning_rate={self.learning_rate}: give a number above 0")
        for name, hint in get_type_hints(type(self)).items():
            choices = get_args(hint)
            if choices and getattr(self, name) not in choices:
                raise UsageError(f"training.{name}={getattr(self, name)}: choose one of {', '.join(choices)}")


@dataclass(frozen=True, slots=True)
class Recipe:
    """A training, frozen.

    Args:
        task: What is trained; `gistmeter train --help` lists the tasks.
        name: The recipe file's name without its ending.
        training: How the loop runs.
        data: Which texts, as the task reads them.
        model: Which model, as the task reads it.
        notes: What the model card says: `what`, `data` with licences.
        by_epoch: Whether `training` counts epochs where it says steps, until `counted` is called.
    """

    task: str
    name: str
    training: Settings
    data: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    by_epoch: bool = False

    def counted(self, batches: int) -> Settings:
        """Return how the loop runs.

        Args:
            batches: Of one epoch.
        """
        own = self.training
        if not self.by_epoch:
            return own
        return replace(
            own,
            steps=own.steps * batches,
            validate_every=own.validate_every * batches,
            checkpoint_every=own.checkpoint_every * batches,
        )

    def shortened(self, steps: int | None) -> "Recipe":
        """Return the recipe with another number of steps, for a trial."""
        if steps is None:
            return self
        if steps < 1:
            raise UsageError(f"steps={steps}: give at least 1")
        often = steps if self.by_epoch else min(steps, self.training.validate_every)
        warmup = min(self.training.warmup, steps - 1)
        settings = replace(
            self.training, steps=steps, validate_every=often, checkpoint_every=often, warmup=warmup
        )
        return replace(self, training=settings, by_epoch=False)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a recipe as it stands; it says its `task`.

    Raises:
        DataError: If there is no such file, or it is no TOML.
        UsageError: If it does not say its task.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the recipe {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is no recipe: {error}") from error
    if not isinstance(content.get("task"), str):
        raise UsageError(f'{path} does not say its task: add task = "…"')
    return content


def read_recipe(path: Path) -> Recipe:
    """Read a recipe.

    Raises:
        DataError: If there is no such file, or it is no TOML.
        UsageError: If a part is missing or unknown, or a value is out of range.
    """
    content = read_toml(path)
    parts = ("training", "data", "model", "notes")
    check_keys(content, ("task", *parts), path)
    for name in parts:
        if not isinstance(content.get(name, {}), dict):
            raise UsageError(f"{path}: write {name} as a table, [{name}]")
    check_shapes(content, path)
    given = dict(content.get("training", {}))
    by_epoch = "epochs" in given
    if by_epoch:
        if "steps" in given:
            raise UsageError(f"{path}: training has both steps and epochs; give one of them")
        epochs = given.pop("epochs")
        given = {"validate_every": 1, "checkpoint_every": 1, **given, "steps": epochs}
    return Recipe(
        content["task"],
        path.stem,
        settings_from(given, path),
        content.get("data", {}),
        content.get("model", {}),
        content.get("notes", {}),
        by_epoch,
    )


def check_keys(part: Mapping[str, Any], known: Sequence[str], path: Path | str) -> None:
    """Refuse what a part of a recipe has no use for.

    Args:
        part: Its names and values.
        known: The names that there are.
        path: What the error calls the recipe.

    Raises:
        UsageError: If there is another.
    """
    unknown = sorted(set(part) - set(known))
    if unknown:
        raise UsageError(f"{path}: no {unknown[0]!r} here; there are: {', '.join(known)}")


def settings_from(given: Mapping[str, Any], path: Path) -> Settings:
    """Build the settings of a recipe's `training` part.

    Raises:
        UsageError: If one is missing, unknown, of another type or out of range.
    """
    hints = get_type_hints(Settings)
    unknown = sorted(set(given) - set(hints))
    if unknown:
        known = ", ".join(["epochs", *hints])
        raise UsageError(f"{path}: no setting {unknown[0]!r} in training; there are: {known}")
    for name, value in given.items():
        kinds = {int: (int,), float: (int, float)}.get(hints[name], (str,))
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise UsageError(f"{path}: training.{name}={value!r} is no {kinds[-1].__name__}")
    if not {"steps", "learning_rate"} <= given.keys():
        raise UsageError(f"{path}: training needs steps (or epochs) and learning_rate")
    return Settings(**given)


def claim(folder: Path, recipe: Recipe) -> None:
    """Note in a training's folder which recipe it belongs to, so that no other goes on there.

    A note binds nobody before there is a checkpoint or a model: where a training failed on its data, the
    mended recipe takes its place.

    Raises:
        UsageError: If it belongs to another, or to another trial of this one.
        DataError: If the folder cannot be written.
    """
    facts = {key: value for key, value in asdict(recipe).items() if key not in ("name", "notes")}
    facts["training"] = {**facts["training"], "checkpoint_every": None}  # decides no number
    text = json.dumps(facts, indent=1, sort_keys=True, default=str) + "\n"
    path = folder / "recipe.json"
    try:
        known = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None
        if known not in (None, text) and _has_trained(folder):
            raise UsageError(
                f"{folder} holds a training with another recipe; give another --output, or delete it"
            )
        folder.mkdir(parents=True, exist_ok=True)
        if known != text:
            write_text(path, text)
    except OSError as error:
        raise DataError(f"cannot write {folder}: {error.strerror or error}") from None


def _has_trained(folder: Path) -> bool:
    """Tell whether a folder holds anything that a recipe decided."""
    return any(next(folder.rglob(name), None) for name in (CHECKPOINT, "*.safetensors"))
