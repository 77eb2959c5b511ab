"""Systems' means and intervals as dots and lines: a panel a metric."""

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gistmeter.core.errors import DataError, MissingExtra
from gistmeter.report.plain import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Figures = Mapping[str, Any]
LABEL = 40
PANELS = 3  # side by side
# Neighbouring ranks differ without colour vision too (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666")


def dots_png(systems: Sequence[Figures]) -> bytes:
    """Draw every system's mean with its 95 % interval; systems of one rank have one colour.

    Args:
        systems: Of a `Comparison`, best first.

    Raises:
        MissingExtra: If matplotlib is not installed.
        DataError: If there is no mean to draw.
    """
    panels: dict[str, list[Figures]] = {}
    for row in systems:
        if row["mean"] is not None:
            panels.setdefault(row["metric"], []).append(row)
    if not panels:
        raise DataError("there is no mean to draw")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots") from error
    across = min(PANELS, len(panels))
    down = -(-len(panels) // across)
    height = 1.2 + 0.3 * max(map(len, panels.values()))
    picture = Figure(figsize=(4.6 * across, height * down), dpi=120, layout="constrained")
    FigureCanvasAgg(picture)
    grid = picture.subplots(down, across, squeeze=False).flat
    for (metric, rows), axes in zip(panels.items(), grid, strict=False):
        _panel(axes, metric, rows)
    for axes in list(grid)[len(panels) :]:
        axes.set_axis_off()
    drawn = io.BytesIO()
    with warnings.catch_warnings():  # a name in a script that the font lacks is drawn as boxes
        warnings.simplefilter("ignore")
        picture.savefig(drawn, format="png")
    return drawn.getvalue()


def _panel(axes: "Axes", metric: str, rows: Sequence[Figures]) -> None:
    for at, row in enumerate(rows):
        colour = COLOURS[(row["rank"] - 1) % len(COLOURS)]
        if row["low"] is not None:
            axes.plot([row["low"], row["high"]], [at, at], color=colour, linewidth=1.5)
        axes.plot([row["mean"]], [at], "o", color=colour, markersize=5)
    axes.set_yticks(range(len(rows)), [_literal(row["system"]) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)  # the best on top
    axes.set_title(_literal(metric), fontsize=10)
    axes.set_xlabel("mean and 95 % interval", fontsize=8)
    axes.grid(visible=True, axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _literal(text: str) -> str:
    return plain(text, LABEL).replace("$", r"\$")  # no formulas
