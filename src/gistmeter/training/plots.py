"""Plot the training and validation curves."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gistmeter.core.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = Sequence[Mapping[str, float]]


def plot_history(history: Mapping[str, Points], path: Path) -> None:
    """Plot the loss on the left and the other validation metrics on the right.

    Args:
        history: The result of `loop.train`, or the content of `history.json`.
        path: PNG file to write.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots") from error
    figure = Figure(figsize=(10, 4), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    losses, others = figure.subplots(1, 2)
    _draw_losses(losses, history)
    _draw_others(others, history["validations"])
    with warnings.catch_warnings():  # Matplotlib warns about glyphs that its font lacks
        warnings.simplefilter("ignore")
        beside = path.with_name(path.name + ".tmp")
        figure.savefig(beside, format="png")
    beside.replace(path)


def _draw_losses(axes: "Axes", history: Mapping[str, Points]) -> None:
    steps, validations = history["steps"], history["validations"]
    axes.plot([p["step"] for p in steps], [p["loss"] for p in steps], color="#9aa5b1", label="training")
    _line(axes, validations, "loss", "validation", 0)
    if steps:
        minutes = steps[-1]["seconds"] / 60
        rates = max(p["learning_rate"] for p in steps)
        axes.set_title(f"Loss ({minutes:,.1f} min of training, learning rate up to {rates:.3g})", fontsize=10)
    _finish(axes, "loss")


def _draw_others(axes: "Axes", validations: Points) -> None:
    seen = dict.fromkeys(name for point in validations for name in point)
    names = [name for name in seen if name not in ("step", "loss")]
    for at, name in enumerate(names):
        _line(axes, validations, name, name.replace("_", " "), at + 1)
    axes.set_title("Validation", fontsize=10)
    if not names:
        axes.text(0.5, 0.5, "no other metrics", ha="center", transform=axes.transAxes)
    _finish(axes, "value")


def _line(axes: "Axes", points: Points, name: str, label: str, colour: int) -> None:
    known = [point for point in points if name in point]
    style = "o-" if len(known) < 40 else "-"  # more markers would hide the line
    x, y = [p["step"] for p in known], [p[name] for p in known]
    axes.plot(x, y, style, markersize=3, color=f"C{colour}", label=label)


def _finish(axes: "Axes", what: str) -> None:
    axes.set_xlabel("step (batches)")
    axes.set_ylabel(what)
    axes.grid(visible=True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, fontsize=8)
