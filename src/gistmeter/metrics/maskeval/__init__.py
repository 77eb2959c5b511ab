"""MaskEval: weighted masked-language-model evaluation (Liu et al., 2022)."""

from gistmeter.metrics.maskeval.metric import MaskEval
from gistmeter.metrics.maskeval.options import MaskEvalOptions
from gistmeter.metrics.maskeval.presets import build
from gistmeter.metrics.maskeval.weights import Learned, Uniform, Weighting

__all__ = ["Learned", "MaskEval", "MaskEvalOptions", "Uniform", "Weighting", "build"]
