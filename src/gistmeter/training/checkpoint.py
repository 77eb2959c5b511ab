"""Checkpoints: save and load the state of a training run, atomically."""

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
    """Write a checkpoint atomically: a killed process leaves the previous checkpoint or the new one.

    Raises:
        OSError: If the disk is full or the folder is not writable; the previous checkpoint remains.
    """
    folder.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    torch.save(dict(state), packed)  # a zip file: `load_checkpoint` verifies the checksum of each record
    write_bytes(folder / CHECKPOINT, packed.getvalue())
    write_text(folder / HISTORY, json.dumps(state["history"], indent=1) + "\n")


def load_checkpoint(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read the checkpoint in a folder, or return None if there is none.

    Args:
        folder: Output folder of the training run.
        settings: Settings of the run to resume; the checkpoint must have the same settings.

    Raises:
        BadModel: If the file is damaged.
        UsageError: If the checkpoint was written with other settings.
    """
    path = folder / CHECKPOINT
    if not path.is_file():
        return None
    try:
        flaw = zipfile.ZipFile(path).testzip()
        if flaw is not None:
            raise ValueError(f"checksum mismatch in {flaw}")
        # weights_only accepts only tensors and plain containers, so no code is executed.
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        known = dict(state["settings"])
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadModel(f"{path} is damaged ({reason}); delete it to start over") from error
    different = sorted(key for key in settings if known.get(key) != settings[key])
    if different:
        raise UsageError(
            f"{path} was written with {different[0]}={known.get(different[0])}, but the recipe has "
            f"{settings[different[0]]}; choose another --output, or delete the checkpoint"
        )
    return state


def trainable(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return the trainable weights by name, detached but not copied."""
    return {name: weight.detach() for name, weight in model.named_parameters() if weight.requires_grad}


def restore(model: torch.nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    """Load weights returned by `trainable` back into the model.

    Raises:
        BadModel: If the names or shapes do not match this model.
    """
    own = trainable(model)
    if {name: weight.shape for name, weight in own.items()} != {
        name: weight.shape for name, weight in weights.items()
    }:
        raise BadModel("the checkpoint belongs to another model; delete it to start over")
    with torch.no_grad():
        for name, weight in own.items():
            weight.copy_(weights[name])
