"""What the commands share: where models run, which metrics are asked for, and notes."""

import argparse
import logging
from typing import TYPE_CHECKING

from gistmeter import catalog
from gistmeter.core.metric import Metric

if TYPE_CHECKING:
    from gistmeter.engine.plan import Plan
    from gistmeter.models.run.runtime import Runtime

LOG = logging.getLogger("gistmeter")
METRIC_HELP = f"""\
metrics:
  {", ".join(catalog.METRICS)}
  all: every one of these that has a model here, and those of other installed packages
  Options follow a colon: speed:against=source,match=optimal
"""


def runtime_of(arguments: argparse.Namespace) -> "Runtime":
    """Return where and how the command line asks models to run."""
    from gistmeter.models.run.runtime import Runtime

    return Runtime(
        device=arguments.device,
        dtype=arguments.dtype,
        backend=arguments.backend,
        batch_tokens=arguments.batch_tokens,
        cache_mb=arguments.cache_mb,
        progress=not arguments.quiet,
    )


def build_metrics(arguments: argparse.Namespace) -> list[tuple[str, Metric]]:
    """Build the metrics a command line asks for, each with its label: the text that named it."""
    metrics = catalog.load_all(
        arguments.metrics,
        dimension=arguments.dimension,
        preset=arguments.preset,
        model=arguments.model,
        runtime=runtime_of(arguments),
    )
    return list(metrics.items())


def plan_of(arguments: argparse.Namespace) -> "Plan":
    """Return what `gistmeter score` asks for as plain values, which another process can build."""
    from gistmeter.engine.plan import Plan

    return Plan(
        tuple(arguments.metrics),
        dimension=arguments.dimension,
        preset=arguments.preset,
        model=arguments.model,
        runtime=runtime_of(arguments),
        cache=arguments.cache,
        cache_size=arguments.cache_size,
        max_seconds_per_row=arguments.max_seconds_per_row,
    )


def note(arguments: argparse.Namespace, text: str) -> None:
    """Log a note, which the command line shows on standard error unless asked to be quiet."""
    if not arguments.quiet:
        LOG.info(text)
