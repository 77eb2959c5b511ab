"""Rows with their scores, on the way to a file."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score

Labelled = Sequence[tuple[str, Metric]]


@dataclass(frozen=True, slots=True)
class Scored:
    """One row and what each metric says of it.

    Args:
        row: As it was read.
        scores: One a metric, in the metrics' order.
    """

    row: Row
    scores: tuple[Score, ...]


def digest_of(rows: Sequence[Row]) -> str:
    """Return what names the rows: a hash of all that their scores and output rows are made from."""
    texts = [
        [e.id, e.candidate, e.source, e.references, e.system, e.doc_id, row.problem]
        for row in rows
        for e in [row.example]
    ]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]
