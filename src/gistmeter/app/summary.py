"""What is kept of scores that are on their way to a file."""

import logging
import sys
from collections.abc import Sequence
from dataclasses import replace

from gistmeter.core.column import Column
from gistmeter.core.language import PROBLEM
from gistmeter.core.result import ColumnResult
from gistmeter.core.row import Row
from gistmeter.io.scored import Labelled, Scored

LOG = logging.getLogger("gistmeter")
EXCERPT = 100
"""Characters of a candidate that a failed gate may show."""


class Summary:
    """What the table of means needs of the scores, so that millions of rows fit into memory.

    Args:
        metrics: What makes the scores.
        whole: How many of the first rows to keep with their texts and spans.
        all_rows: Whether to keep the following rows, too, without texts and spans. Gates need them.

    Attributes:
        columns: The scores of each metric.
        documents: The document of each row.
        kept: The rows that were kept.
        first_unread: The problem of the first row that could not be read.
        count: How many rows there are.
        n_unread: How many of them could not be read.
    """

    def __init__(self, metrics: Labelled, *, whole: int = 1, all_rows: bool = False) -> None:
        self.metrics = metrics
        self.columns = [Column() for _ in metrics]
        self.documents: list[str | None] = []
        self.kept: list[Scored] = []
        self._whole, self._all_rows = whole, all_rows
        self.first_unread: str | None = None
        self.count = self.n_unread = 0

    def add(self, chunk: Sequence[Scored]) -> None:
        """Take a chunk."""
        self.count += len(chunk)
        for one in chunk:
            if len(self.kept) < self._whole:
                self.kept.append(one)
            elif self._all_rows:
                self.kept.append(_light(one))
            document = one.row.example.doc_id
            self.documents.append(document and sys.intern(document))
            for column, score in zip(self.columns, one.scores, strict=True):
                column.append(score)
            if one.row.problem is not None:
                self.n_unread += 1
                self.first_unread = self.first_unread or one.row.problem

    def results(self, *, seed: int) -> list[tuple[str, ColumnResult]]:
        """Return the label of each metric with the mean of its scores, and the interval of the mean."""
        return [
            (label, ColumnResult.of(metric.signature, column, self.documents, seed=seed))
            for (label, metric), column in zip(self.metrics, self.columns, strict=True)
        ]


def note_languages(summary: Summary) -> None:
    """Log, once per metric, how many rows are in a language that it does not score."""
    for (label, metric), column in zip(summary.metrics, summary.columns, strict=True):
        if not any(problem.startswith(PROBLEM) for problem in column.problems()):
            continue
        count = sum(score.problem is not None and score.problem.startswith(PROBLEM) for score in column)
        LOG.info(
            f"gistmeter: {label} scores {metric.languages}; rows in other languages, without a value: {count}"
        )


def _light(scored: Scored) -> Scored:
    """Return a scored row with an excerpt of its candidate, and without other texts, spans and components."""
    row = scored.row
    example = replace(row.example, candidate=row.example.candidate[:EXCERPT], source=None, references=())
    scores = tuple(replace(score, spans=(), parts={}) for score in scored.scores)
    return Scored(Row(example, problem=row.problem), scores)
