"""The command `gistmeter train`: train a model by a recipe."""

import json
import logging
import math
import sys
from pathlib import Path

from tabulate import tabulate

from gistmeter import catalog
from gistmeter.app.options.train import TrainOptions
from gistmeter.core.errors import GistmeterError, MissingExtra
from gistmeter.training.files import write_text

LOG = logging.getLogger("gistmeter")
MEASURED, HISTORY = "measured.json", "history.json"


def run(options: TrainOptions) -> int:
    """Train a model and print its evaluation; write `measured.json` and plots of the training curves.

    Returns:
        0.

    Raises:
        KeyboardInterrupt: On Ctrl-C, after a note on how to resume.
    """
    recipe = Path(options.recipe)
    output = Path(options.output) if options.output else Path("out") / recipe.stem
    data = Path(options.data) if options.data else None
    progress = not options.quiet
    try:
        figures = catalog.train(recipe, data, output, steps=options.steps, progress=progress)
        known = {name: value if math.isfinite(value) else None for name, value in figures.items()}
        write_text(output / MEASURED, json.dumps(known, indent=1) + "\n")
    except KeyboardInterrupt:
        sys.stderr.write(f"gistmeter: stopped; to resume from {output}, run the same command again\n")
        raise
    except Exception as error:
        reason = _disk_error(error)
        if reason is None or options.debug:
            raise
        raise GistmeterError(
            f"cannot write to {output}: {reason}; fix this, then run the same command again to resume"
        ) from error
    _draw(output, options)
    rows = [(name, _number(value)) for name, value in figures.items()]
    text = tabulate(rows, ("measured", "value"), "simple", disable_numparse=True, colalign=("left", "right"))
    sys.stdout.write(f"{text}\n")
    LOG.info(f"gistmeter: results are in {output}")
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


def _draw(output: Path, options: TrainOptions) -> None:
    """Plot the training curves of a recipe and of its parts."""
    from gistmeter.training.plots import plot_history

    for path in sorted([*output.glob(HISTORY), *output.glob(f"*/{HISTORY}")]):
        try:
            plot_history(json.loads(path.read_text(encoding="utf-8")), path.with_suffix(".png"))
        except MissingExtra as error:
            LOG.info(f"gistmeter: skipped the plots: {error}")
            return


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "—"
