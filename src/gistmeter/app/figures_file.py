"""The figures of a benchmark on their way into a file, and the scores that let a stopped run go on."""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gistmeter.app.specs import note
from gistmeter.core.errors import UsageError
from gistmeter.core.metric import Metric
from gistmeter.io import files
from gistmeter.io.cache import ScoreCache
from gistmeter.io.kept import Kept

Figures = list[dict[str, object]]
Labelled = Sequence[tuple[str, Metric]]


class FiguresFile:
    """Takes the figures when all are there; until then, the scores are kept beside.

    Args:
        name: The file for the figures; None if they are only printed.
        pairs: The file for differences between metrics; None if there are none.
        cache: Keeps the scores, if anything does.
    """

    def __init__(self, name: str | None, pairs: str | None, cache: ScoreCache | None) -> None:
        self._name, self._pairs, self._cache = name, pairs, cache

    def kept(self, metrics: Labelled) -> Labelled:
        """Return metrics that do not score again what a run before has scored."""
        if self._cache is None:
            return metrics
        return [(label, Kept(metric, self._cache, spans=False)) for label, metric in metrics]

    def finish(self, figures: Figures, pairs: Figures) -> None:
        """Write the files."""
        for name, found in ((self._pairs, pairs), (self._name, figures)):
            if name is not None:
                text = json.dumps(found, indent=1, allow_nan=False) + "\n"
                files.write_whole(name, text.encode())


@contextmanager
def open_figures(
    name: str | None, inputs: Sequence[files.AnyPath], arguments: argparse.Namespace
) -> Iterator[FiguresFile]:
    """Check that figures can be written, and keep other runs from doing so.

    Scores are kept in `--cache`, or beside the figures until these are whole: in `NAME.part`.

    Raises:
        UsageError: If the file is an input, is there already, or another run writes it.
        DataError: If it cannot be written.
    """

    def say(text: str) -> None:
        note(arguments, text)

    given = arguments.cache and ScoreCache(arguments.cache, megabytes=arguments.cache_size, note=say)
    if name is None:
        yield FiguresFile(None, None, given)
        return
    pairs = str(Path(name).with_suffix(".pairs.json")) if arguments.compare else None
    for output in filter(None, (name, pairs)):
        files.check_output(output, inputs=inputs)
    with files.locked(name):
        beside = f"{os.path.realpath(name)}.part"
        _check_free(name, beside, arguments)
        if files.is_stream(name):
            yield FiguresFile(name, pairs, given)
            return
        if given:
            yield FiguresFile(name, pairs, given)
            return
        with _beside(beside, say, fresh=arguments.overwrite) as cache:
            yield FiguresFile(name, pairs, cache)


@contextmanager
def _beside(path: str, say: Callable[[str], None], *, fresh: bool) -> Iterator[ScoreCache]:
    """Keep scores for as long as the run has not ended well."""
    cache = ScoreCache(path, note=say)
    if fresh:
        cache.clear()
    try:
        yield cache
    except BaseException:
        if cache.is_empty():
            cache.remove()
        else:
            say(f"gistmeter: scores of the run that was stopped are in {path}; --resume goes on with them")
        raise
    cache.remove()


def _check_free(name: str, beside: str, arguments: argparse.Namespace) -> None:
    """Refuse what would be lost; the flags say what is meant."""
    if arguments.overwrite or arguments.resume:
        return
    if files.is_filled(name):
        raise UsageError(f"{name} is there already; --overwrite replaces it")
    if files.is_filled(beside):
        raise UsageError(
            f"{beside} holds scores of a run that was stopped; --resume goes on with them, "
            "--overwrite starts again"
        )
