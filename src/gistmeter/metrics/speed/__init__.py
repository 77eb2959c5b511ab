"""SPEED: sentence-level similarity or entailment (Akula and Garibay, LREC 2022)."""

from gistmeter.metrics.speed.metric import Speed
from gistmeter.metrics.speed.options import SpeedOptions
from gistmeter.metrics.speed.presets import build

__all__ = ["Speed", "SpeedOptions", "build"]
