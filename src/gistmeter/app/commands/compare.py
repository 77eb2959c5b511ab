"""`gistmeter compare`."""

import logging
import sys

from gistmeter.app.options.compare import CompareOptions
from gistmeter.bench.compare import compare, measured
from gistmeter.core.errors import DataError, UsageError
from gistmeter.io.files import check_output, write_whole

LOG = logging.getLogger("gistmeter")


def run(options: CompareOptions) -> int:
    """Compare systems, print the comparison and draw it."""
    if options.plot is not None:
        if not options.plot.lower().endswith(".png"):
            raise UsageError(f"--plot {options.plot}: the name must end in .png")
        check_output(options.plot, inputs=options.scores)
    values = measured(options.scores, by=options.by)
    found = compare(values, systems=options.system, by=options.by, seed=options.seed)
    if not found.pairs:
        raise DataError("there is nothing to compare: no metric has scores of two systems")
    if options.plot is not None:
        write_whole(options.plot, found.png())
    if options.format != "text":  # the text says them itself
        for warning in found.warnings:
            LOG.warning("gistmeter: %s", warning)
    sys.stdout.write(found.text(options.format))
    return 0
