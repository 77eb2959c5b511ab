"""Converted models in 8 bits: quantised after training, with the ranges that calibration texts show."""

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import torch

from gistmeter.core.errors import GistmeterError
from gistmeter.models.run.openvino.model import compiled, openvino, quiet
from gistmeter.models.run.submodules import Tensors
from gistmeter.models.run.types import Model, Outputs

SMOOTHING = 0.65
"""How much of the activations' outliers is moved into the weights (SmoothQuant's α): the best of .3 to .95,
which is NNCF's own, for the token vectors of MiniLM."""
LEAST_COSINE, GOOD_COSINE = 0.9, 0.999
"""Of what a quantised submodule puts out with what PyTorch does, on samples that it was not calibrated with:
below the one it is refused; below the other its narrowing products are kept out of 8 bits."""
ATTENTION = "ScaledDotProductAttention"
"""Never in 8 bits: it is slower so than in bf16, and less exact."""


def quantized(submodule: torch.nn.Module, samples: list[Tensors], model: Model) -> Model:
    """Quantise a converted submodule of a model.

    Args:
        submodule: As PyTorch runs it.
        samples: Inputs that it gets while calibration texts run through the whole model.
        model: The submodule, converted.

    Raises:
        GistmeterError: If its numbers become too different.
    """
    held_out, learned = samples[::4], [sample for at, sample in enumerate(samples) if at % 4]
    with torch.inference_mode():
        wanted = [submodule(*sample) for sample in held_out]
    cosine = 0.0
    narrowing = _narrowing(model)
    for kept in ([], narrowing) if narrowing else ([],):
        small = _quantized(model, learned, kept)
        run = compiled(small, "int8")
        cosine = min(_cosine(run(*sample), exact) for sample, exact in zip(held_out, wanted, strict=True))
        if cosine >= GOOD_COSINE:
            break
    if cosine < LEAST_COSINE:
        raise GistmeterError(
            f"this model does not bear int8 (cosine {cosine:.2f} with full precision); use --dtype bf16"
        )
    return small


def _quantized(model: Model, samples: list[Tensors], kept: list[str]) -> Model:
    """Quantise everything but attention and some other nodes."""
    openvino()  # before NNCF, which would import it with what it reports
    import nncf

    silent = StringIO()  # it draws progress bars
    with quiet(), redirect_stdout(silent), redirect_stderr(silent):
        return nncf.quantize(
            model,
            nncf.Dataset([[tensor.numpy() for tensor in sample] for sample in samples]),
            model_type=nncf.ModelType.TRANSFORMER,
            subset_size=len(samples),
            ignored_scope=nncf.IgnoredScope(names=kept, types=[ATTENTION], validate=False),
            advanced_parameters=nncf.AdvancedQuantizationParameters(
                smooth_quant_alphas=nncf.AdvancedSmoothQuantParameters(matmul=SMOOTHING)
            ),
        )


def _narrowing(model: Model) -> list[str]:
    """Return the names of products that put out fewer numbers than they take in.

    These end feed-forward layers: what they take in has outliers that 8 bits bear badly.
    """
    names = []
    for node in model.get_ops():
        if node.get_type_name() == "MatMul":
            before, after = (shape[len(shape) - 1] for shape in _shapes(node))
            if before.is_static and after.is_static and before.get_length() > after.get_length():
                names.append(node.get_friendly_name())
    return names


def _shapes(node: Model) -> tuple[Any, Any]:
    return node.input(0).get_partial_shape(), node.output(0).get_partial_shape()


def _cosine(ours: Outputs, theirs: Outputs) -> float:
    """Return the cosine of what is finite in both."""
    flat = [
        torch.cat([tensor.flatten() for tensor in (outputs if isinstance(outputs, tuple) else (outputs,))])
        for outputs in (ours, theirs)
    ]
    finite = flat[0].isfinite() & flat[1].isfinite()
    one, two = (part[finite].double() for part in flat)
    return float(torch.nn.functional.cosine_similarity(one, two, dim=0))
