"""Draw the suites' figures as PNG and SVG."""

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gistmeter.bench.suites.tables import Figure
from gistmeter.core.errors import MissingExtra
from gistmeter.io.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("png", "svg")
# Colour-blind-safe palette (after Okabe and Ito); the ninth colour is black.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8a7d00", "#666666", "#000000")
MARKERS = "osD^vP*X"  # one fewer than colours, so that the tenth series differs from the first


def draw(figure: Figure, folder: Path, prefix: str) -> list[Path]:
    """Draw a figure; an existing file is replaced.

    Args:
        figure: Figure data.
        folder: Output folder.
        prefix: Prefix of the file names.

    Returns:
        The files, one per format; none if the figure has no data.

    Raises:
        MissingExtra: If matplotlib is not installed.
        GistmeterError: If the folder cannot be written.
    """
    if not any(y is not None for series in figure.series for y in series.y):
        return []
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Picture
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots") from error
    named = any(isinstance(x, str) for series in figure.series for x in series.x)
    names = list(dict.fromkeys(str(x) for series in figure.series for x in series.x)) if named else []
    beside = 0.075 * max(len(series.label) for series in figure.series)  # inches for the legend
    width = max(6.0, 1.0 + 0.62 * len(names)) + beside
    picture = Picture(figsize=(width, 4.8), dpi=120, layout="constrained")
    FigureCanvasAgg(picture)
    axes = picture.subplots()
    if named:
        _draw_names(axes, figure, names)
    else:
        _draw_lines(axes, figure)
    _finish(axes, figure)
    paths = [folder / f"{prefix}-{figure.name}.{kind}" for kind in FORMATS]
    # Reproducible files: no random ids in the SVG, no date.
    with warnings.catch_warnings(), matplotlib.rc_context({"svg.hashsalt": "gistmeter"}):
        warnings.simplefilter("ignore")  # Matplotlib warns about glyphs that its font lacks
        for path, kind in zip(paths, FORMATS, strict=True):
            drawn = io.BytesIO()
            picture.savefig(drawn, format=kind, metadata={"Date": None} if kind == "svg" else None)
            write_whole(path, drawn.getvalue())
    return paths


def _draw_lines(axes: "Axes", figure: Figure) -> None:
    for at, series in enumerate(figure.series):
        pairs = zip(series.x, series.y, strict=True)
        points = [(float(x), y) for x, y in pairs if y is not None]
        axes.plot(*_columns(points), label=series.label, **_look(at, joined=figure.connected))


def _draw_names(axes: "Axes", figure: Figure, names: list[str]) -> None:
    """Plot values over names: points side by side, or connected by lines."""
    place = {name: at for at, name in enumerate(names)}
    width = 0.7 / max(1, len(figure.series))
    for at, series in enumerate(figure.series):
        shift = 0.0 if figure.connected else (at - (len(figure.series) - 1) / 2) * width
        pairs = zip(series.x, series.y, strict=True)
        points = [(place[str(x)] + shift, y) for x, y in pairs if y is not None]
        axes.plot(*_columns(points), label=series.label, **_look(at, joined=figure.connected))
    for edge in range(1, len(names)) if not figure.connected else ():
        axes.axvline(edge - 0.5, color="#dddddd", linewidth=0.6, zorder=0)
    upright = sum(map(len, names)) < 40
    turn, side = (0, "center") if upright else (40, "right")
    axes.set_xticks(range(len(names)), names, rotation=turn, ha=side)
    axes.set_xlim(-0.6, len(names) - 0.4)


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _look(at: int, *, joined: bool) -> dict[str, Any]:
    """Return the colour, marker and line style of a series by its index."""
    line = ("-", "--")[at // len(COLOURS) % 2] if joined else ""
    colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
    return {"linestyle": line, "marker": marker, "markersize": 5, "color": colour}


def _finish(axes: "Axes", figure: Figure) -> None:
    axes.set_title(figure.title, fontsize=11)
    axes.set_xlabel(figure.x)
    axes.set_ylabel(figure.y)
    if axes.get_ylim()[0] < 0 < axes.get_ylim()[1]:
        axes.axhline(0, color="#888888", linewidth=0.8, zorder=0)
    axes.grid(visible=True, axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
