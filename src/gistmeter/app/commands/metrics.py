"""The command `gistmeter metrics`."""

import sys
from collections.abc import Mapping

from tabulate import tabulate

from gistmeter import catalog
from gistmeter.app.options.metrics import MetricsOptions
from gistmeter.described.describe import Anchors, Description, anchor_data, describe

QUESTION, WHAT = 50, 70
"""Widths of columns in characters."""


def run(options: MetricsOptions) -> int:
    """List the metrics, or describe one.

    Returns:
        0.

    Raises:
        UsageError: If the metric does not exist.
    """
    text = _table() if options.name is None else _description(describe(options.name))
    sys.stdout.write(text + "\n")
    return 0


def _table() -> str:
    rows = [
        (each.name, each.question, each.needs, each.better, each.range)
        for each in map(describe, catalog.names())
    ]
    headers = ("metric", "question", "needs", "better", "range")
    return tabulate(rows, headers, "simple", maxcolwidths=(None, QUESTION, None, None, None))


def _description(metric: Description) -> str:
    lines = [
        f"{metric.name}: {metric.question}",
        "",
        f"needs     {metric.needs}",
        f"better    {metric.better}",
        f"range     {metric.range}",
        *_languages(metric.languages),
        f"presets   {', '.join(metric.presets) or 'none: it has no model'}",
        *(f"          {name} sets {options}" for name, options in metric.presets.items() if options),
    ]
    if metric.options:
        rows = [(each.name, each.default, each.what) for each in metric.options]
        headers = ("option", "default", "meaning")
        lines += ["", tabulate(rows, headers, maxcolwidths=(None, 24, WHAT), disable_numparse=True)]
    for anchors in metric.anchors:
        lines += ["", *_anchors(anchors)]
    return "\n".join(lines)


def _languages(languages: Mapping[str, str]) -> list[str]:
    """Return the languages that most presets score, and one line for each preset that scores others."""
    usual = next(iter(languages.values()))
    others = [f"          {spoken} (preset {name})" for name, spoken in languages.items() if spoken != usual]
    return [f"languages {usual}", *others]


def _anchors(anchors: Anchors) -> list[str]:
    """Return where the values stand among those of known texts."""
    rows = [(kind, f"{value:.3g}") for kind, value in sorted(anchors.means.items(), key=lambda pair: pair[1])]
    low, middle, high = (anchors.deciles[at] for at in (1, 5, 9))
    lines = [
        f"{anchors.spec} on {anchor_data()}",
        tabulate(rows, ("text", "mean"), disable_numparse=True, colalign=("left", "right")),
        f"system outputs: 10 % are below {low:.3g}, half below {middle:.3g}, 90 % below {high:.3g}",
    ]
    if anchors.agreement:
        said = ", ".join(f"{name} {r:.2f}" for name, r in anchors.agreement.items())
        lines.append(f"Pearson correlation with people: {said}")
    return lines
