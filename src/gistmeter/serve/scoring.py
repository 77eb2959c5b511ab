"""Score rows of several requests in one call, so that no row can fail the others."""

import logging
from collections.abc import Sequence

from gistmeter.core.errors import GistmeterError
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.engine.local import score_chunk

LOG = logging.getLogger("gistmeter")


def score_apart(metric: Metric, rows: Sequence[Row], seconds_per_row: float) -> list[Score]:
    """Score rows together; if that fails, bisect to find the rows at fault, which get a problem.

    Args:
        metric: The metric.
        rows: Rows of any requests.
        seconds_per_row: The time limit of a row.

    Returns:
        One score per row, in the order given.
    """
    try:
        return [one.scores[0] for one in score_chunk([metric], list(rows), seconds_per_row)]
    except Exception as error:
        if len(rows) == 1:
            return [Score.undefined(rows[0].example.id, _said(error, metric))]
    middle = len(rows) // 2
    first, second = rows[:middle], rows[middle:]
    return score_apart(metric, first, seconds_per_row) + score_apart(metric, second, seconds_per_row)


def _said(error: Exception, metric: Metric) -> str:
    """Return what a client may know of an error; the log has the rest."""
    if isinstance(error, GistmeterError):
        return str(error)
    LOG.error("gistmeter: %s failed on a row", metric.name, exc_info=error)
    return f"{metric.name} failed on this row; the log of the service says why"
