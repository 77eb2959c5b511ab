"""Write the results of a benchmark, and cache scores so that an interrupted run can resume."""

import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gistmeter.app.options.benchmark import BenchmarkOptions
from gistmeter.app.options.common import ExistingOutput
from gistmeter.core.errors import UsageError
from gistmeter.core.metric import Metric
from gistmeter.io import files
from gistmeter.io.cache import ScoreCache
from gistmeter.io.kept import Kept

LOG = logging.getLogger("gistmeter")
Figures = list[dict[str, object]]
Labelled = Sequence[tuple[str, Metric]]


class FiguresFile:
    """The output files of a benchmark, with a cache of scores until they are complete.

    Args:
        name: The file for correlations; None to print them only.
        pairs: The file for differences between metrics; None if they are not computed.
        cache: The cache of scores; None for no cache.
    """

    def __init__(self, name: str | None, pairs: str | None, cache: ScoreCache | None) -> None:
        self._name, self._pairs, self._cache = name, pairs, cache

    def kept(self, metrics: Labelled) -> Labelled:
        """Return the metrics, wrapped to use the cache."""
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
    name: str | None, inputs: Sequence[files.AnyPath], options: BenchmarkOptions
) -> Iterator[FiguresFile]:
    """Check that the output files can be written, and lock them against other runs.

    Scores are cached in `--cache`, or otherwise in `NAME.part` until the output is complete.

    Raises:
        UsageError: If the file is an input, already exists, or is being written by another run.
        DataError: If the file cannot be written.
    """
    given = None
    if options.cache:
        given = ScoreCache(options.cache, megabytes=options.cache_size, note=LOG.info)
    if name is None:
        yield FiguresFile(None, None, given)
        return
    pairs = str(Path(name).with_suffix(".pairs.json")) if options.compare else None
    for output in filter(None, (name, pairs)):
        files.check_output(output, inputs=inputs)
    with files.locked(name):
        beside = f"{os.path.realpath(name)}.part"
        _check_free(name, beside, options)
        if files.is_stream(name):
            yield FiguresFile(name, pairs, given)
            return
        if given:
            yield FiguresFile(name, pairs, given)
            return
        with _beside(beside, fresh=options.overwrite) as cache:
            yield FiguresFile(name, pairs, cache)


@contextmanager
def _beside(path: str, *, fresh: bool) -> Iterator[ScoreCache]:
    """Cache scores in a file; delete it when the block ends without an error."""
    cache = ScoreCache(path, note=LOG.info)
    if fresh:
        cache.clear()
    try:
        yield cache
    except BaseException:
        if cache.is_empty():
            cache.remove()
        else:
            LOG.info(f"gistmeter: scores of the interrupted run are in {path}; continue with --resume")
        raise
    cache.remove()


def _check_free(name: str, beside: str, options: ExistingOutput) -> None:
    """Raise UsageError if the run would lose existing results and neither flag is set."""
    if options.overwrite or options.resume:
        return
    if files.is_filled(name):
        raise UsageError(f"{name} already exists; replace it with --overwrite")
    if files.is_filled(beside):
        raise UsageError(
            f"{beside} has scores of an interrupted run; continue it with --resume, "
            "or start again with --overwrite"
        )
