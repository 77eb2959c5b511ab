"""The `Scored` type: a row with its scores."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score

Labelled = Sequence[tuple[str, Metric]]


@dataclass(frozen=True, slots=True)
class Scored:
    """A row with the score of each metric.

    Args:
        row: The row as it was read.
        scores: One score per metric, in the order of the metrics.
    """

    row: Row
    scores: tuple[Score, ...]


def digest_of(rows: Sequence[Row]) -> str:
    """Return a hash of everything in the rows that affects their scores and output rows."""
    texts = [
        [e.id, e.candidate, e.source, e.references, e.system, e.doc_id, row.problem, *_language(e)]
        for row in rows
        for e in [row.example]
    ]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]


def _language(example: Example) -> list[str]:
    """Return the language, if there is one: rows without it keep their hash."""
    return [example.language] if example.language else []
