"""Average the weights of models that were trained from the same start."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gistmeter.core.errors import UsageError
from gistmeter.models.files.adapters import WEIGHTS, base_of, name_from
from gistmeter.models.files.find import ModelFiles, find_model, read_config
from gistmeter.models.files.load import load_tensors
from gistmeter.training.queries import MODEL
from gistmeter.training.recipe import check_keys


def train_average(recipe: Mapping[str, Any], data: Path, output: Path) -> dict[str, float]:
    """Save the mean of the trained weights of several models (a uniform "model soup").

    Models that were trained from the same start, on other data or with another loss, often have errors of
    their own, which the mean does not have (Wortsman et al. 2022, "Model soups", section 2).

    Args:
        recipe: `models`: at least two models that are stored as changes to the same base model.
        data: Not used.
        output: Folder; the model is in its subfolder `model`.

    Returns:
        `models`, their number.

    Raises:
        UsageError: If there are fewer than two models, or they are of different kinds.
        ModelError: If a model cannot be found or loaded.
    """
    import torch
    from safetensors.torch import save_file

    check_keys(recipe, ("task", "models", "notes"), "the recipe")
    names = recipe.get("models")
    if not isinstance(names, list) or len(names) < 2:
        raise UsageError("models: give a list of at least two models")
    files = [find_model(str(name)) for name in names]
    weights = [load_tensors(own) for own in files]
    shapes = [{name: tuple(weight.shape) for name, weight in own.items()} for own in weights]
    for name, own, shape in zip(names, files, shapes, strict=True):
        if _kind(own) != _kind(files[0]) or shape != shapes[0]:
            raise UsageError(
                f"models: {name} is of another kind or size than {names[0]}; give models like it"
            )
    folder = output / MODEL
    folder.mkdir(parents=True, exist_ok=True)
    mean = {
        name: torch.stack([own[name].float() for own in weights]).mean(dim=0).to(weight.dtype)
        for name, weight in weights[0].items()
    }
    save_file(mean, folder / WEIGHTS)
    facts = {**_kind(files[0]), "base": name_from(folder, base_of(files[0]))}
    (folder / "config.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return {"models": float(len(names))}


def _kind(files: ModelFiles) -> dict[str, Any]:
    """Return the configuration without the name of the base, which depends on the folder."""
    return {key: value for key, value in read_config(files).items() if key != "base"}
