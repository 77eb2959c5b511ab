"""Options of `gistmeter metrics`."""

from dataclasses import dataclass

from gistmeter.app.options.common import add_output
from gistmeter.app.options.parsing import Commands


@dataclass(frozen=True, kw_only=True)
class MetricsOptions:
    """Options of `gistmeter metrics`."""

    name: str | None


def add_metrics(commands: Commands) -> None:
    """Add the command."""
    metrics = commands.add_parser(
        "metrics",
        help="list the metrics, or describe one",
        description="List the metrics with their questions, or describe one: required fields, range, "
        "presets, options, and the values of texts whose quality is known.",
    )
    metrics.add_argument("name", nargs="?", metavar="METRIC", help="the metric to describe")
    add_output(metrics, quiet="no notes")
    metrics.set_defaults(options=MetricsOptions, run="gistmeter.app.commands.metrics:run")
