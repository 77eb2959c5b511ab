"""Log notes about rows that take a model minutes, before they are scored."""

import logging
from collections.abc import Iterable, Iterator

from gistmeter.core.metric import Asking
from gistmeter.core.row import Row
from gistmeter.io.scored import Labelled

LOG = logging.getLogger("gistmeter")
MANY_WORDS = 20_000
"""Predicted words from which a row is reported as long; typical rows have a few hundred."""
WORDS_A_SECOND = 1_000
"""Words per second that the shipped model predicts on one CPU core, approximately."""


def announced(rows: Iterable[Row], metrics: Labelled, *, limited: bool) -> Iterator[Row]:
    """Log a note before a row that takes a metric far longer than usual.

    Args:
        rows: Passed on one by one.
        metrics: What scores them.
        limited: Whether each row has a limit of time.
    """
    for row in rows:
        for label, metric in metrics:
            asked = metric.words_asked(row.example) if isinstance(metric, Asking) else 0
            if asked >= MANY_WORDS:
                limit = "" if limited else "; to skip such rows: --max-seconds-per-row N"
                LOG.info(
                    f"gistmeter: row {row.example.id} is long: {label} predicts about {asked:,} words, "
                    f"which takes about {asked // WORDS_A_SECOND:,} s on one CPU core{limit}"
                )
        yield row
