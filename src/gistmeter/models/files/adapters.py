"""Loads and saves models that are stored as changes to a base model.

A folder contains `model.safetensors` with the trained weights in float16, and a `config.json` with the kind
of the model and the name and identity of its base model. A base model in a folder is named by its path from
the saved model, so that the working directory does not matter.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gistmeter.core.errors import BadModel
from gistmeter.models.files.find import ModelFiles, find_model, is_built_in, read_config
from gistmeter.models.files.load import load_tensors
from gistmeter.models.run.types import Model

WEIGHTS = "model.safetensors"


def is_kind(files: ModelFiles, kind: str) -> bool:
    """Return whether the `model_type` in the folder's configuration is this kind."""
    return (files.folder / "config.json").is_file() and read_config(files)["model_type"] == kind


def save_tuned(
    model: Model,
    base: str,
    folder: Path,
    *,
    kind: str,
    facts: Mapping[str, object],
) -> None:
    """Save the trained weights of a model.

    Args:
        model: A PyTorch module; weights that require a gradient are saved, in float16.
        base: The name of the base model, as in `find_model`; it provides all other weights.
        folder: The folder to write to.
        kind: The `model_type` in `config.json`.
        facts: Other values in `config.json` that are needed to build the model.
    """
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    own = {name: weight.detach().to(torch.float16).contiguous() for name, weight in _changed(model).items()}
    save_file(own, folder / WEIGHTS)
    said = {
        "model_type": kind,
        "base": name_from(folder, base),
        "base_identity": find_model(base).identity,
        **facts,
    }
    (folder / "config.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


def read_tuned(files: ModelFiles, kind: str) -> dict[str, Any]:
    """Read the configuration of a saved model: its base, as in `find_model`, and the values of `save_tuned`.

    Raises:
        ModelNotFound: If the base model is not available.
        BadModel: If the model is of another kind, or the base model is not the one used in training.
    """
    facts = read_config(files)
    if facts["model_type"] != kind:
        raise BadModel(f"{files.folder} contains a {facts['model_type']}, not a {kind}; give another folder")
    try:
        wanted = str(facts["base_identity"])
    except KeyError as error:
        raise BadModel(f"{files.folder / 'config.json'} has no key {error}; save the model again") from error
    base = base_of(files)
    found = find_model(base).identity
    if found != wanted:
        raise BadModel(
            f"{files.folder} was trained on {wanted}, but {base} is {found}; install that base model"
        )
    return {**facts, "base": base}


def base_of(files: ModelFiles) -> str:
    """Return the name of the base model, as in `find_model`.

    Raises:
        BadModel: If the configuration does not name it.
    """
    facts = read_config(files)
    if "base" not in facts:
        raise BadModel(f"{files.folder / 'config.json'} has no key 'base'; save the model again")
    return name_in(files.folder, str(facts["base"]))


def name_from(folder: Path, name: str) -> str:
    """Return a model name to store in a folder: of a model folder, the path from there."""
    place = Path(name).expanduser()
    if is_built_in(name) or not place.is_dir():
        return name
    path = Path(os.path.relpath(place.resolve(), folder.resolve())).as_posix()
    return path if path.startswith(".") else f"./{path}"


def name_in(folder: Path, name: str) -> str:
    """Return a stored model name, as in `find_model`; see `name_from`."""
    place = folder / name
    return str(place) if name.startswith(".") and place.is_dir() else name


def whole_number(files: ModelFiles, facts: Mapping[str, Any], name: str) -> int:
    """Return a whole number of the configuration that `read_tuned` returned.

    Raises:
        BadModel: If it is missing or not a number.
    """
    try:
        return int(facts[name])
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(
            f"{files.folder / 'config.json'} is not valid ({error}); save the model again"
        ) from error


def restore_tuned(model: Model, files: ModelFiles) -> None:
    """Load the trained weights into a model that was built as in training.

    Raises:
        BadModel: If the names or shapes of the weights do not match the model.
    """
    weights, own = load_tensors(files), _changed(model)
    if own.keys() != weights.keys() or any(own[name].shape != weights[name].shape for name in own):
        raise BadModel(f"the weights in {files.folder} do not match its config.json; save the model again")
    for name, weight in own.items():
        weight.data.copy_(weights[name])


def _changed(model: Model) -> dict[str, Any]:
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
