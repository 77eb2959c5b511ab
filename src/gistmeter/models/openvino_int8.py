"""Converted models in 8 bits: quantised after training, with the ranges that calibration texts show."""

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any

import torch

from gistmeter.core.errors import GistmeterError
from gistmeter.models.openvino_model import compiled, openvino, quiet

if TYPE_CHECKING:
    from gistmeter.models.openvino_piece import OpenVinoPiece

LEAST_COSINE = 0.9
"""Of what a quantised piece puts out with what PyTorch does, on samples that it was not calibrated with."""


def quantized(piece: "OpenVinoPiece", model: Any) -> Any:  # noqa: ANN401 - models of OpenVINO
    """Quantise a converted piece of a model.

    Args:
        piece: Knows how to run texts through the whole model.
        model: The piece, converted.

    Raises:
        GistmeterError: If its numbers become too different.
    """
    openvino()  # before NNCF, which would import it with what it reports
    import nncf

    samples = piece.collect()
    held_out, learned = samples[::4], [sample for at, sample in enumerate(samples) if at % 4]
    data = nncf.Dataset([[tensor.numpy() for tensor in sample] for sample in learned])
    silent = StringIO()  # it draws progress bars
    with quiet(), redirect_stdout(silent), redirect_stderr(silent):
        small = nncf.quantize(model, data, model_type=nncf.ModelType.TRANSFORMER, subset_size=len(learned))
    run = compiled(small, "int8")
    with torch.inference_mode():
        found = [_cosine(run(*sample), piece.piece(*sample)) for sample in held_out]
    if min(found) < LEAST_COSINE:
        raise GistmeterError(
            f"this model does not bear int8 (cosine {min(found):.2f} with full precision); use --dtype bf16"
        )
    return small


def _cosine(ours: Any, theirs: Any) -> float:  # noqa: ANN401 - one tensor or several
    """Return the cosine of what is finite in both."""
    flat = [
        torch.cat([tensor.flatten() for tensor in (outputs if isinstance(outputs, tuple) else (outputs,))])
        for outputs in (ours, theirs)
    ]
    finite = flat[0].isfinite() & flat[1].isfinite()
    one, two = (part[finite].double() for part in flat)
    return float(torch.nn.functional.cosine_similarity(one, two, dim=0))
