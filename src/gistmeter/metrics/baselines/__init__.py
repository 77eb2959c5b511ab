"""Baseline metrics, for comparison with the metrics of the papers.

BERTScore and the log likelihood, which have a model, are imported from their own modules.
"""

from gistmeter.metrics.baselines.bleu import Bleu, BleuOptions
from gistmeter.metrics.baselines.chrf import Chrf, ChrfOptions
from gistmeter.metrics.baselines.content import Content, ContentOptions
from gistmeter.metrics.baselines.extractive import Extractive, ExtractiveOptions
from gistmeter.metrics.baselines.length_ratio import LengthRatio, LengthRatioOptions
from gistmeter.metrics.baselines.names import Names, NamesOptions
from gistmeter.metrics.baselines.novelty import Novelty, NoveltyOptions
from gistmeter.metrics.baselines.rouge import Rouge, RougeOptions
from gistmeter.metrics.baselines.sari import Sari, SariOptions
from gistmeter.metrics.baselines.surface import Surface, SurfaceOptions

__all__ = [
    "Bleu",
    "BleuOptions",
    "Chrf",
    "ChrfOptions",
    "Content",
    "ContentOptions",
    "Extractive",
    "ExtractiveOptions",
    "LengthRatio",
    "LengthRatioOptions",
    "Names",
    "NamesOptions",
    "Novelty",
    "NoveltyOptions",
    "Rouge",
    "RougeOptions",
    "Sari",
    "SariOptions",
    "Surface",
    "SurfaceOptions",
]
