"""Recipes: TOML files that specify a training run completely."""

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

MORE = "+"
"""Marks a key of an extending recipe that adds to a list instead of replacing it."""
Schedule = Literal["constant", "linear"]
Precision = Literal["fp32", "bf16"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the training loop.

    A recipe may give `epochs` instead of `steps`; `validate_every` and `checkpoint_every` then also count
    epochs and default to 1.

    Args:
        steps: Number of batches.
        learning_rate: Peak learning rate.
        optimizer: `adam`, or `adamw` with decoupled weight decay.
        weight_decay: Weight decay of `adamw`.
        warmup: Steps of linear warm-up from 0.
        schedule: Learning rate after the warm-up: `constant`, or `linear` decay to 0 at the last step.
        clip: Maximum gradient norm; 0 disables clipping.
        precision: `bf16` uses automatic mixed precision (bfloat16) with float32 weights.
        validate_every: Steps between validations.
        checkpoint_every: Steps between checkpoints; a killed run loses at most this many.
        select: Validation metric that selects the best weights, lowest first; `-accuracy` selects the
            highest accuracy; an empty string keeps the last weights.
        seed: Seed of batches and dropout.
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
    """Specification of a training run.

    Args:
        task: Kind of model to train; `gistmeter train --help` lists the tasks.
        name: Name of the recipe file without its extension.
        training: Settings of the loop.
        data: Training data; the keys depend on the task.
        model: Model options; the keys depend on the task.
        notes: Text for the model card: `what`, and `data` with licences.
        by_epoch: Whether the step counts of `training` are epochs; `counted` converts them.
    """

    task: str
    name: str
    training: Settings
    data: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    by_epoch: bool = False

    def counted(self, batches: int) -> Settings:
        """Return the settings with all counts in steps.

        Args:
            batches: Batches per epoch.
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
        """Return the recipe with another number of steps, for a trial run."""
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
    """Read a recipe file without validating anything but `task`.

    With `extends = "other.toml"`, a recipe has everything of another one in the same folder, except what it
    says itself: its tables are merged key by key, all other values, lists included, are replaced. A key with
    a plus sign adds to a list: `[[data."+sets"]]` adds a table to `data.sets`.

    Raises:
        DataError: If a file cannot be read or is not valid TOML.
        UsageError: If `task` is missing, a recipe extends itself, or it adds to a list that does not exist.
    """
    content = _merged(path, ())
    if not isinstance(content.get("task"), str):
        raise UsageError(f'{path} has no task; add task = "…" at the top')
    return content


def _merged(path: Path, below: tuple[Path, ...]) -> dict[str, Any]:
    """Return the content of a recipe and of those that it extends; `below` are the recipes that led to it."""
    if path in below:
        raise UsageError(f"{path} extends itself; remove extends from one of the recipes")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the recipe {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not valid TOML: {error}") from error
    if "extends" not in content:
        return content
    return _with(_merged(path.parent / str(content.pop("extends")), (*below, path)), content)


def _with(table: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(table)
    for key, value in changes.items():
        before = table.get(key.removeprefix(MORE))
        if key.startswith(MORE):
            if not isinstance(before, list) or not isinstance(value, list):
                raise UsageError(f"{key}: there is no such list in the recipe that this one extends")
            merged[key.removeprefix(MORE)] = [*before, *value]
        elif isinstance(before, dict) and isinstance(value, dict):
            merged[key] = _with(before, value)
        else:
            merged[key] = value
    return merged


def read_recipe(path: Path) -> Recipe:
    """Read and validate a recipe.

    Raises:
        DataError: If the file cannot be read or is not valid TOML.
        UsageError: If a table or key is missing or unknown, or a value is out of range.
    """
    content = read_toml(path)
    parts = ("training", "data", "model", "notes")
    check_keys(content, ("task", *parts), path)
    for name in parts:
        if not isinstance(content.get(name, {}), dict):
            raise UsageError(f"{path}: {name} is not a table; write it as [{name}]")
    check_shapes(content, path)
    given = dict(content.get("training", {}))
    by_epoch = "epochs" in given
    if by_epoch:
        if "steps" in given:
            raise UsageError(f"{path}: training has both steps and epochs; give only one of them")
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
    """Check that a table of a recipe has only known keys.

    Args:
        part: The table.
        known: The valid keys.
        path: Recipe file, for the error message.

    Raises:
        UsageError: If a key is unknown.
    """
    unknown = sorted(set(part) - set(known))
    if unknown:
        raise UsageError(f"{path}: unknown key {unknown[0]!r}; choose from: {', '.join(known)}")


def settings_from(given: Mapping[str, Any], path: Path) -> Settings:
    """Build the settings from the `training` table of a recipe.

    Raises:
        UsageError: If a setting is missing, unknown, of the wrong type or out of range.
    """
    hints = get_type_hints(Settings)
    unknown = sorted(set(given) - set(hints))
    if unknown:
        known = ", ".join(["epochs", *hints])
        raise UsageError(f"{path}: unknown key training.{unknown[0]}; choose from: {known}")
    for name, value in given.items():
        kinds = {int: (int,), float: (int, float)}.get(hints[name], (str,))
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise UsageError(f"{path}: training.{name}={value!r} must be of type {kinds[-1].__name__}")
    if not {"steps", "learning_rate"} <= given.keys():
        raise UsageError(f"{path}: training needs steps (or epochs) and learning_rate; add the missing key")
    return Settings(**given)


def claim(folder: Path, recipe: Recipe) -> None:
    """Record a recipe in the output folder, so that no other recipe resumes the run there.

    A recorded recipe can be replaced as long as the folder has no checkpoint and no model, for example after
    a run that failed because of its data.

    Raises:
        UsageError: If the folder has a run of another recipe, or of this recipe with other trial steps.
        DataError: If the folder cannot be written.
    """
    facts = {key: value for key, value in asdict(recipe).items() if key not in ("name", "notes")}
    facts["training"] = {**facts["training"], "checkpoint_every": None}  # does not affect the result
    text = json.dumps(facts, indent=1, sort_keys=True, default=str) + "\n"
    path = folder / "recipe.json"
    try:
        known = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None
        if known not in (None, text) and _has_trained(folder):
            raise UsageError(
                f"{folder} contains a run of another recipe; choose another --output, or delete the folder"
            )
        folder.mkdir(parents=True, exist_ok=True)
        if known != text:
            write_text(path, text)
    except OSError as error:
        raise DataError(f"cannot write {folder}: {error.strerror or error}") from None


def _has_trained(folder: Path) -> bool:
    """Return whether a folder has a checkpoint or a model."""
    return any(next(folder.rglob(name), None) for name in (CHECKPOINT, "*.safetensors"))
