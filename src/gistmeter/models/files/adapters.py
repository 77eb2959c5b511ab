"""Models that build on another one: only what training changed is on disk, and the name of its base.

A folder holds `model.safetensors` with the changed weights in float16, and a `config.json` that says which
kind of model it is and which base it needs, by name and by identity.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gistmeter.core.errors import BadModel
from gistmeter.models.files.load import ModelFiles, find_model, load_tensors, read_config
from gistmeter.models.run.types import Model

WEIGHTS = "model.safetensors"


def is_kind(files: ModelFiles, kind: str) -> bool:
    """Tell whether a folder holds a model of a kind."""
    return (files.folder / "config.json").is_file() and read_config(files)["model_type"] == kind


def save_tuned(
    model: Model,
    base: str,
    folder: Path,
    *,
    kind: str,
    facts: Mapping[str, object],
) -> None:
    """Save the weights of a model that training changes.

    Args:
        model: Its weights that need a gradient are saved, in float16.
        base: Name of the model that has all others, as `find_model` knows it.
        folder: Where they go.
        kind: What `config.json` calls it: its `model_type`.
        facts: What else is needed to build it again.
    """
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    own = {name: weight.detach().to(torch.float16).contiguous() for name, weight in _changed(model).items()}
    save_file(own, folder / WEIGHTS)
    said = {"model_type": kind, "base": base, "base_identity": find_model(base).identity, **facts}
    (folder / "config.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


def read_tuned(files: ModelFiles, kind: str) -> dict[str, Any]:
    """Read what a folder says about its model: `base`, and the facts it was saved with.

    Raises:
        ModelNotFound: If its base is not to be had.
        BadModel: If it is another kind of model, or its base is another one than it was trained on.
    """
    facts = read_config(files)
    if facts["model_type"] != kind:
        raise BadModel(f"{files.folder} holds a {facts['model_type']}, not a {kind}")
    try:
        base, wanted = str(facts["base"]), str(facts["base_identity"])
    except KeyError as error:
        raise BadModel(f"{files.folder / 'config.json'} lacks {error}") from error
    found = find_model(base).identity
    if found != wanted:
        raise BadModel(f"{files.folder} was trained on {wanted}; {base} is {found} here")
    return facts


def restore_tuned(model: Model, files: ModelFiles) -> None:
    """Give a model, built as it was for training, the weights that training changed.

    Raises:
        BadModel: If they are not those of this model.
    """
    weights, own = load_tensors(files), _changed(model)
    if own.keys() != weights.keys() or any(own[name].shape != weights[name].shape for name in own):
        raise BadModel(f"the weights in {files.folder} are not those of the model its config.json describes")
    for name, weight in own.items():
        weight.data.copy_(weights[name])


def _changed(model: Model) -> dict[str, Any]:
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
