"""Metrics as named on the command line: `name`, or `name:option=value,option=value`."""

import argparse
from typing import TYPE_CHECKING

from gistmeter import catalog
from gistmeter.app.ends import say
from gistmeter.core.errors import ModelError, UsageError
from gistmeter.core.metric import Metric

if TYPE_CHECKING:
    from gistmeter.models.runtime import Runtime

METRIC_HELP = f"""\
metrics:
  {", ".join(catalog.WITH_MODEL)} (with a model)
  {", ".join(catalog.WITHOUT_MODEL)} (without)
  all: every one of these that has a model here, and those of other installed packages
  Options follow a colon: speed:against=source,match=optimal
"""


def runtime_of(arguments: argparse.Namespace) -> "Runtime":
    """Return where and how the command line asks models to run."""
    from gistmeter.models.runtime import Runtime

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
    runtime = runtime_of(arguments)
    # Parsed before any model is loaded, so that a slip of the pen is known at once.
    asked = {label: parse_spec(label) for label in arguments.metrics if label != "all"}
    every = {name: parse_spec(name) for name in catalog.names() if "all" in arguments.metrics}
    metrics: dict[str, Metric] = {}
    specs = every | asked
    _ask_for(arguments.dimension, specs)
    for label, (name, options) in specs.items():
        try:
            metrics[label] = catalog.build(
                name, preset=arguments.preset, model=arguments.model, runtime=runtime, options=options
            )
        except ModelError as error:
            if label in asked:
                raise
            note(arguments, f"left out: {error}")
    return list(metrics.items())


def parse_spec(text: str) -> tuple[str, dict[str, str]]:
    """Split a metric's name from its options.

    Raises:
        UsageError: If an option has no value, or no metric has that name.

    >>> parse_spec("speed:against=source,match=optimal")
    ('speed', {'against': 'source', 'match': 'optimal'})
    """
    name, _, rest = text.partition(":")
    if name not in catalog.names():
        raise UsageError(f"no metric {name!r}; there are: {', '.join(catalog.names())}")
    pairs = [pair.partition("=") for pair in rest.split(",") if pair]
    if any(not equals for _, equals, _ in pairs):
        raise UsageError(f"{text!r}: write options as name:option=value,option=value")
    return name, {key: value for key, _, value in pairs}


def _ask_for(dimension: str | None, specs: dict[str, tuple[str, dict[str, str]]]) -> None:
    """Pass the quality asked for on to the metrics that know qualities, unless their own options say one."""
    if dimension is None:
        return
    able = [options for name, options in specs.values() if name in catalog.WITH_DIMENSION]
    if not able:
        raise UsageError(f"--dimension is for {', '.join(catalog.WITH_DIMENSION)}; none is asked for")
    for options in able:
        options.setdefault("dimension", dimension)


def note(arguments: argparse.Namespace, text: str) -> None:
    """Say something on standard error, unless asked to be quiet."""
    if not arguments.quiet:
        say(text)
