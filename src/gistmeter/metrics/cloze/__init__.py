"""ClozE: factual consistency by cloze tests (Li et al., 2022, "Just ClozE!")."""

from gistmeter.metrics.cloze.metric import Cloze
from gistmeter.metrics.cloze.options import ClozeOptions
from gistmeter.metrics.cloze.presets import build

__all__ = ["Cloze", "ClozeOptions", "build"]
