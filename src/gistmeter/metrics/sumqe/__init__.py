"""SUM-QE: summary quality estimation without source or references (Xenouleas et al., 2019)."""

from gistmeter.metrics.sumqe.metric import SumQE
from gistmeter.metrics.sumqe.options import SumQEOptions
from gistmeter.metrics.sumqe.presets import build
from gistmeter.metrics.sumqe.qualities import QUALITIES

__all__ = ["QUALITIES", "SumQE", "SumQEOptions", "build"]
