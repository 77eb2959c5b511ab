"""Quantizes converted models to int8 after training, with activation ranges from calibration texts."""

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import torch

from gistmeter.core.errors import GistmeterError
from gistmeter.models.run.openvino.model import compiled, openvino, quiet
from gistmeter.models.run.submodules import Tensors
from gistmeter.models.run.types import Model, Outputs

SMOOTHING = 0.65
"""SmoothQuant's α: how much of the activation outliers moves into the weights. The best value from .3 to .95
for the token vectors of MiniLM; NNCF's default is .95."""
LEAST_COSINE, GOOD_COSINE = 0.9, 0.999
"""Thresholds for the cosine between the outputs of the quantized submodule and of PyTorch on held-out
samples. Below the first, quantization fails; below the second, layers that narrow their input stay in higher
precision."""
ATTENTION = "ScaledDotProductAttention"
"""Attention is never quantized: int8 is slower than bf16 there, and less exact."""


def quantized(submodule: torch.nn.Module, samples: list[Tensors], model: Model) -> Model:
    """Quantize a converted submodule.

    Leaves quantization-sensitive layers in higher precision if full quantization is not exact enough.

    Args:
        submodule: The PyTorch module, as the reference.
        samples: Inputs of the submodule, recorded while calibration texts run through the whole model.
        model: The converted submodule.

    Raises:
        GistmeterError: If the outputs of the quantized submodule differ too much from PyTorch's.
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
            f"int8 is too inexact for this model (cosine {cosine:.2f} with full precision); use --dtype bf16"
        )
    return small


def _quantized(model: Model, samples: list[Tensors], kept: list[str]) -> Model:
    """Quantize all nodes except attention and the given ones."""
    openvino()  # must precede NNCF, which would import it with telemetry enabled
    import nncf

    silent = StringIO()  # discards progress bars
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
    """Return the names of matrix products whose output is narrower than their input.

    They are the second projections of feed-forward layers, whose inputs have outliers that make int8 inexact.
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
    """Return the cosine similarity over the elements that are finite in both outputs."""
    flat = [
        torch.cat([tensor.flatten() for tensor in (outputs if isinstance(outputs, tuple) else (outputs,))])
        for outputs in (ours, theirs)
    ]
    finite = flat[0].isfinite() & flat[1].isfinite()
    one, two = (part[finite].double() for part in flat)
    return float(torch.nn.functional.cosine_similarity(one, two, dim=0))
