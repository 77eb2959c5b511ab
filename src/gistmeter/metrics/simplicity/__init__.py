"""Simplicity metric: simplicity-aware BERTScore and RelBERTScore (Zuo and Yoshinaga)."""

from gistmeter.metrics.simplicity.metric import Simplicity
from gistmeter.metrics.simplicity.options import SimplicityOptions
from gistmeter.metrics.simplicity.presets import build

__all__ = ["Simplicity", "SimplicityOptions", "build"]
