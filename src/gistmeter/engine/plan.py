"""The metrics of a run as plain values, so that another process or machine can build them."""

import logging
from dataclasses import dataclass, field, replace

from gistmeter import catalog
from gistmeter.core.example import Need
from gistmeter.io.cache import ScoreCache
from gistmeter.io.kept import Kept
from gistmeter.io.scored import Labelled
from gistmeter.models.run.runtime import Runtime

LOG = logging.getLogger("gistmeter")


@dataclass(frozen=True, slots=True)
class Plan:
    """Which metrics to build, and how they run.

    Args:
        specs: Names or specs of metrics.
        dimension: The quality to score, for the metrics that know qualities.
        preset: As for `catalog.build`.
        model: As for `catalog.build`.
        runtime: Where and how models run.
        cache: File or folder of the score cache; None for no cache.
        cache_size: Most megabytes of that cache.
        max_seconds_per_row: Most seconds that a row may take a metric; None for no limit.
        absent: Fields that the rows lack; `all` leaves out the metrics that need them.
    """

    specs: tuple[str, ...]
    dimension: str | None = None
    preset: str = "mini"
    model: str | None = None
    runtime: Runtime = field(default_factory=Runtime)
    cache: str | None = None
    cache_size: int = 2048
    max_seconds_per_row: float | None = None
    absent: tuple[Need, ...] = ()

    def build(self) -> Labelled:
        """Build the metrics, each with its label: the text that named it.

        Raises:
            UsageError: If a name, a preset or an option does not exist.
            ModelError: If a model cannot be found or loaded.
        """
        metrics = catalog.load_all(
            self.specs,
            dimension=self.dimension,
            absent=self.absent,
            preset=self.preset,
            model=self.model,
            runtime=self.runtime,
        )
        if not self.cache:
            return list(metrics.items())
        cache = ScoreCache(self.cache, megabytes=self.cache_size, note=LOG.info)
        return [(label, Kept(metric, cache)) for label, metric in metrics.items()]

    def on(self, device: str) -> "Plan":
        """Return the plan for a worker on that device, which shows no progress bars of its own."""
        return replace(self, runtime=replace(self.runtime, device=device, progress=False))
