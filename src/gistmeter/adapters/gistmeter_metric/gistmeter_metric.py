"""The metric that `evaluate.load(FOLDER, "rouge")` finds; the second argument is the spec of a metric."""

from gistmeter.adapters.evaluate import GistmeterMetric

__all__ = ["GistmeterMetric"]
