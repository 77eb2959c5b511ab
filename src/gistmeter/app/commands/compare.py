"""`gistmeter compare`."""

import argparse
import logging
import sys

from gistmeter.bench.compare import compare, measured
from gistmeter.core.errors import UsageError
from gistmeter.io.files import check_output, write_whole

LOG = logging.getLogger("gistmeter")


def run(arguments: argparse.Namespace) -> int:
    """Compare systems, print the comparison and draw it."""
    if arguments.plot is not None:
        if not arguments.plot.lower().endswith(".png"):
            raise UsageError(f"--plot {arguments.plot}: the name must end in .png")
        check_output(arguments.plot, inputs=arguments.scores)
    values = measured(arguments.scores, by=arguments.by)
    found = compare(values, systems=arguments.system, by=arguments.by, seed=arguments.seed)
    if arguments.plot is not None:
        write_whole(arguments.plot, found.png())
    if arguments.format != "text":  # the text says them itself
        for warning in found.warnings:
            LOG.warning("gistmeter: %s", warning)
    sys.stdout.write(found.text(arguments.format))
    return 0
