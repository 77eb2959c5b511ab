"""Restores weights that are stored as 8-bit codes, with one scale for each block of columns."""

from collections.abc import Mapping
from typing import Any

import torch

from gistmeter.core.errors import BadModel

CODES, SCALES = ".codes", ".scales"


def restore(tensors: Mapping[str, torch.Tensor], block: int) -> dict[str, torch.Tensor]:
    """Return all weights in full precision.

    Args:
        tensors: `NAME.codes` in int8, shape (rows, columns), with `NAME.scales`, shape (rows, columns /
            block); other tensors are weights themselves.
        block: The number of columns that share a scale.

    Raises:
        BadModel: If a scale is missing, or codes and scales do not fit.

    >>> codes, scales = torch.tensor([[1, -2, 3, 4]], dtype=torch.int8), torch.tensor([[0.5, 2.0]])
    >>> restore({"w.codes": codes, "w.scales": scales}, 2)["w"].tolist()
    [[0.5, -1.0, 6.0, 8.0]]
    """
    found: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith(SCALES):
            continue
        if not name.endswith(CODES):
            found[name] = tensor.float()
            continue
        own = name.removesuffix(CODES)
        scales = tensors.get(own + SCALES)
        if scales is None or tensor.numel() != scales.numel() * block or tensor.ndim != scales.ndim:
            raise BadModel(f"the codes and the scales of {own} do not fit; replace the weights")
        blocks = tensor.float().reshape(*scales.shape, block) * scales.float().unsqueeze(-1)
        found[own] = blocks.reshape(tensor.shape)
    return found


def fill(model: Any, tensors: Mapping[str, torch.Tensor], block: int) -> list[str]:  # noqa: ANN401 - of transformers
    """Load restored weights into a model; return the names of those that are missing."""
    weights = restore(tensors, block)
    try:
        return list(model.load_state_dict(weights, strict=False).missing_keys)
    except RuntimeError as error:
        raise BadModel(f"the weights do not fit the configuration: {str(error).splitlines()[-1]}") from error
