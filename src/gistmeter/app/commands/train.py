"""The command `gistmeter train`: train a model by a recipe."""

import argparse
import json
import math
import sys
from pathlib import Path

from tabulate import tabulate

from gistmeter import catalog
from gistmeter.app.specs import note
from gistmeter.core.errors import GistmeterError, MissingExtra
from gistmeter.training.files import write_text

MEASURED, HISTORY = "measured.json", "history.json"


def run(arguments: argparse.Namespace) -> int:
    """Train a model and print its evaluation; write `measured.json` and plots of the training curves.

    Returns:
        0.

    Raises:
        KeyboardInterrupt: On Ctrl-C, after a note on how to resume.
    """
    recipe = Path(arguments.recipe)
    output = Path(arguments.output) if arguments.output else Path("out") / recipe.stem
    data = Path(arguments.data) if arguments.data else None
    progress = not arguments.quiet
    try:
        figures = catalog.train(recipe, data, output, steps=arguments.steps, progress=progress)
        known = {name: value if math.isfinite(value) else None for name, value in figures.items()}
        write_text(output / MEASURED, json.dumps(known, indent=1) + "\n")
    except KeyboardInterrupt:
        sys.stderr.write(f"gistmeter: stopped; to resume from {output}, run the same command again\n")
        raise
    except Exception as error:
        reason = _disk_error(error)
        if reason is None or arguments.debug:
            raise
        raise GistmeterError(
            f"cannot write to {output}: {reason}; fix this, then run the same command again to resume"
        ) from error
    _draw(output, arguments)
    rows = [(name, _number(value)) for name, value in figures.items()]
    text = tabulate(rows, ("measured", "value"), "simple", disable_numparse=True, colalign=("left", "right"))
    sys.stdout.write(f"{text}\n")
    note(arguments, f"gistmeter: results are in {output}")
    return 0


def _disk_error(error: BaseException | None) -> str | None:
    """Return the reason if an error is a failed file write, possibly wrapped in a library's error."""
    if error is None or isinstance(error, GistmeterError):
        return None
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if type(error).__name__ == "SafetensorError" and "Error while serializing: I/O error" in str(error):
        return str(error).partition("I/O error: ")[2]
    return _disk_error(error.__cause__ or error.__context__)


def _draw(output: Path, arguments: argparse.Namespace) -> None:
    """Plot the training curves of a recipe and of its parts."""
    from gistmeter.training.plots import plot_history

    for path in sorted([*output.glob(HISTORY), *output.glob(f"*/{HISTORY}")]):
        try:
            plot_history(json.loads(path.read_text(encoding="utf-8")), path.with_suffix(".png"))
        except MissingExtra as error:
            note(arguments, f"gistmeter: skipped the plots: {error}")
            return


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "—"
