"""Options of `gistmeter metrics`."""

from dataclasses import dataclass

from gistmeter.app.options.common import add_output
from gistmeter.app.options.parsing import Commands


@dataclass(frozen=True, kw_only=True)
class MetricsOptions:
    """Options of `gistmeter metrics`."""

    metrics: tuple[str, ...]


def add_metrics(commands: Commands) -> None:
    """Add the command."""
    metrics = commands.add_parser(
        "metrics",
        help="list metrics, and the languages that each preset scores",
        description="List metrics with their presets, and the languages that each preset scores.",
    )
    metrics.add_argument("metrics", metavar="METRIC", nargs="*", help="a metric (default: all)")
    add_output(metrics, quiet="no notes")
    metrics.set_defaults(options=MetricsOptions, run="gistmeter.app.commands.metrics:run")
