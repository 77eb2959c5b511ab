"""The process of one worker: it builds the metrics, then scores the chunks that it is sent."""

import logging
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import NoReturn

from gistmeter.core.errors import GistmeterError
from gistmeter.core.example import Example, Need
from gistmeter.core.language import Languages
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature
from gistmeter.engine.local import score_chunk
from gistmeter.engine.long_rows import announced
from gistmeter.engine.plan import Plan
from gistmeter.io.scored import Labelled

LOG = logging.getLogger("gistmeter")
Columns = list[tuple[Score, ...]]


@dataclass(frozen=True, slots=True)
class Described:
    """A metric that another process runs: everything about it but its scores.

    Args:
        name: The metric's.
        needs: The metric's.
        languages: The metric's.
        signature: The metric's.
    """

    name: str
    needs: tuple[Need, ...]
    languages: Languages
    signature: Signature

    def score(self, examples: Sequence[Example], /) -> NoReturn:
        """Raise: the scores come from the worker."""
        raise TypeError(f"{self.name} is built in the workers")


@dataclass(frozen=True, slots=True)
class Ready:
    """The first answer of a worker: the metrics that it has built."""

    metrics: list[tuple[str, Metric]]


@dataclass(frozen=True, slots=True)
class Note:
    """What a worker logs."""

    level: int
    text: str


def serve(connection: Connection, plan: Plan, threads: int) -> None:
    """Answer every chunk of rows with its scores, until None comes or the parent is gone.

    Args:
        connection: Answers with `Ready`, then with `Columns`; with `Note` in between; with an error at last.
        plan: What to build.
        threads: Of this worker, unless the environment says how many.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the parent ends the others
    for name in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS"):  # read when the model libraries are imported
        os.environ.setdefault(name, str(threads))
    _forward_notes(connection)
    with suppress(EOFError, OSError):  # the parent is gone
        try:
            metrics = plan.build()
            connection.send(Ready([(label, _described(metric)) for label, metric in metrics]))
            while (part := connection.recv()) is not None:
                connection.send(_scores(metrics, part, plan.max_seconds_per_row))
        except (EOFError, BrokenPipeError, ConnectionError):
            return
        except Exception as error:  # the parent raises it
            connection.send(_plain(error))


def _scores(metrics: Labelled, part: list[Row], seconds: float | None) -> Columns:
    rows = list(announced(part, metrics, limited=seconds is not None))
    return [scored.scores for scored in score_chunk([metric for _, metric in metrics], rows, seconds)]


def _described(metric: Metric) -> Metric:
    return Described(metric.name, metric.needs, metric.languages, metric.signature)


def _plain(error: Exception) -> GistmeterError:
    """Return an error that every process can read."""
    if isinstance(error, GistmeterError):
        return error
    return GistmeterError(f"{type(error).__name__}: {error} (run again without --workers to see where)")


def _forward_notes(connection: Connection) -> None:
    class Forward(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            with suppress(OSError):
                connection.send(Note(record.levelno, record.getMessage()))

    LOG.addHandler(Forward())
    LOG.setLevel(logging.INFO)
    LOG.propagate = False
