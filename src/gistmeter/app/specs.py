"""Build the metrics and the runtime that the options of a command select."""

from typing import TYPE_CHECKING

from gistmeter import catalog
from gistmeter.app.options.common import MetricOptions, RuntimeOptions
from gistmeter.app.options.score import ScoreOptions
from gistmeter.core.example import Need
from gistmeter.core.metric import Metric

if TYPE_CHECKING:
    from gistmeter.engine.plan import Plan
    from gistmeter.models.run.runtime import Runtime


def runtime_of(options: RuntimeOptions) -> "Runtime":
    """Return the runtime that the command line selects."""
    from gistmeter.models.run.runtime import Runtime

    return Runtime(
        device=options.device,
        dtype=options.dtype,
        backend=options.backend,
        batch_tokens=options.batch_tokens,
        cache_mb=options.cache_mb,
        progress=not options.quiet,
    )


def build_metrics(options: MetricOptions) -> list[tuple[str, Metric]]:
    """Build the metrics of the command line; return each with its spec as label."""
    metrics = catalog.load_all(
        options.metrics,
        dimension=options.dimension,
        preset=options.preset,
        model=options.model,
        runtime=runtime_of(options),
    )
    return list(metrics.items())


def plan_of(options: ScoreOptions, *, absent: tuple[Need, ...] = ()) -> "Plan":
    """Return what `gistmeter score` asks for as plain values, which another process can build.

    Args:
        options: The options of the command.
        absent: Fields that the rows lack; `all` leaves out the metrics that need them.
    """
    from gistmeter.engine.plan import Plan

    return Plan(
        options.metrics,
        dimension=options.dimension,
        preset=options.preset,
        model=options.model,
        runtime=runtime_of(options),
        cache=options.cache,
        cache_size=options.cache_size,
        max_seconds_per_row=options.max_seconds_per_row,
        absent=absent,
    )
