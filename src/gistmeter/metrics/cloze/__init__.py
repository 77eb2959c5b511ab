"""ClozE, after "Just ClozE! A Novel Framework for Evaluating the Factual Consistency Faster" (Li et al.)."""

from gistmeter.metrics.cloze.metric import Cloze
from gistmeter.metrics.cloze.options import ClozeOptions
from gistmeter.metrics.cloze.presets import build

__all__ = ["Cloze", "ClozeOptions", "build"]
