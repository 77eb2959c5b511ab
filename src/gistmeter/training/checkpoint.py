"""Where a training stands, on disk: written whole or not at all."""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.training.files import CHECKPOINT, HISTORY, write_bytes, write_text


def save_checkpoint(folder: Path, state: Mapping[str, Any]) -> None:
    """Write a checkpoint; a kill at any moment leaves the old one or the new one.

    Raises:
        OSError: If the disk is full, or the folder cannot be written; the old one stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    torch.save(dict(state), packed)  # with a checksum of each record, which `load_checkpoint` checks
    write_bytes(folder / CHECKPOINT, packed.getvalue())
    write_text(folder / HISTORY, json.dumps(state["history"], indent=1) + "\n")


def load_checkpoint(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read the checkpoint of a folder, or None if there is none.

    Args:
        folder: Of the training.
        settings: Of the training that is to go on: those of the checkpoint must be the same.

    Raises:
        BadModel: If the file is damaged.
        UsageError: If it belongs to a training with other settings.
    """
    path = folder / CHECKPOINT
    if not path.is_file():
        return None
    try:
        flaw = zipfile.ZipFile(path).testzip()
        if flaw is not None:
            raise ValueError(f"the checksum of {flaw} is wrong")
        # No code is run: weights_only admits tensors and plain containers alone.
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        known = dict(state["settings"])
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadModel(f"{path} is damaged; delete it to start anew: {reason}") from error
    different = sorted(key for key in settings if known.get(key) != settings[key])
    if different:
        raise UsageError(
            f"{path} was written with {different[0]}={known.get(different[0])}, the recipe says "
            f"{settings[different[0]]}; give another --output, or delete it"
        )
    return state


def trainable(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return the weights that training changes, by name: detached, but not copied."""
    return {name: weight.detach() for name, weight in model.named_parameters() if weight.requires_grad}


def restore(model: torch.nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    """Put weights back that `trainable` returned.

    Raises:
        BadModel: If they are not those of this model.
    """
    own = trainable(model)
    if {name: weight.shape for name, weight in own.items()} != {
        name: weight.shape for name, weight in weights.items()
    }:
        raise BadModel("the checkpoint belongs to another model; delete it to start anew")
    with torch.no_grad():
        for name, weight in own.items():
            weight.copy_(weights[name])
