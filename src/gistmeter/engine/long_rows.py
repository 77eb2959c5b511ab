"""Notes about rows that take a model minutes, made before they are scored."""

import logging
from collections.abc import Iterable, Iterator

from gistmeter.core.metric import Asking
from gistmeter.core.row import Row
from gistmeter.io.scored import Labelled

LOG = logging.getLogger("gistmeter")
MANY_WORDS = 20_000
"""From here on a row is announced: usual ones have a few hundred."""
WORDS_A_SECOND = 1_000
"""What the shipped model answers on one core, roughly."""


def announced(rows: Iterable[Row], metrics: Labelled, *, limited: bool) -> Iterator[Row]:
    """Log a note before a row is scored if a metric asks its model far more about it than usual.

    Args:
        rows: Passed on one by one.
        metrics: What scores them.
        limited: Whether each row has a limit of time.
    """
    for row in rows:
        for label, metric in metrics:
            asked = metric.words_asked(row.example) if isinstance(metric, Asking) else 0
            if asked >= MANY_WORDS:
                limit = "" if limited else "; --max-seconds-per-row N gives up on such rows"
                LOG.info(
                    f"gistmeter: row {row.example.id} is long: {label} asks its model for about {asked:,} "
                    f"words, some {asked // WORDS_A_SECOND:,} s on a processor core{limit}"
                )
        yield row
