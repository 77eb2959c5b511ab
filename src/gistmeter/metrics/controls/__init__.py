"""The cheap metrics that every table carries beside the real ones.

BERTScore, the only one of them with a model, is imported from its own module.
"""

from gistmeter.metrics.controls.bleu import Bleu, BleuOptions
from gistmeter.metrics.controls.chrf import Chrf, ChrfOptions
from gistmeter.metrics.controls.extractive import Extractive, ExtractiveOptions
from gistmeter.metrics.controls.length_ratio import LengthRatio, LengthRatioOptions
from gistmeter.metrics.controls.novelty import Novelty, NoveltyOptions
from gistmeter.metrics.controls.rouge import Rouge, RougeOptions
from gistmeter.metrics.controls.sari import Sari, SariOptions

__all__ = [
    "Bleu",
    "BleuOptions",
    "Chrf",
    "ChrfOptions",
    "Extractive",
    "ExtractiveOptions",
    "LengthRatio",
    "LengthRatioOptions",
    "Novelty",
    "NoveltyOptions",
    "Rouge",
    "RougeOptions",
    "Sari",
    "SariOptions",
]
