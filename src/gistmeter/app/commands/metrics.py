"""The command `gistmeter metrics`: list metrics with their presets and languages."""

import sys

from tabulate import tabulate

from gistmeter import catalog
from gistmeter.app.options.metrics import MetricsOptions

HEADERS = ("metric", "preset", "languages")
WIDTHS = (None, None, 70)


def run(options: MetricsOptions) -> int:
    """Print a table with one line per metric and preset."""
    names = [name for name in options.metrics if name != catalog.ALL] or catalog.names()
    rows = [
        (name, preset, str(languages))
        for name in names
        for preset, languages in catalog.languages_by_preset(name).items()
    ]
    text = tabulate(rows, HEADERS, "simple", disable_numparse=True, maxcolwidths=list(WIDTHS))
    sys.stdout.write("\n".join(line.rstrip() for line in text.splitlines()) + "\n")
    return 0
