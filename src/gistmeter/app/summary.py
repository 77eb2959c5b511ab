"""What is kept of scores that are on their way to a file."""

import sys
from collections.abc import Sequence

from gistmeter.core.column import Column
from gistmeter.io.scored import Labelled, Scored


class Summary:
    """What the table of means needs of the scores, so that millions of rows fit into memory.

    Args:
        metrics: What makes the scores.

    Attributes:
        columns: The scores of each metric.
        documents: The document of each row.
        first: The first row, whole.
        first_unread: The problem of the first row that could not be read.
        count: How many rows there are.
        n_unread: How many of them could not be read.
    """

    def __init__(self, metrics: Labelled) -> None:
        self.metrics = metrics
        self.columns = [Column() for _ in metrics]
        self.documents: list[str | None] = []
        self.first: Scored | None = None
        self.first_unread: str | None = None
        self.count = self.n_unread = 0

    def add(self, chunk: Sequence[Scored]) -> None:
        """Take a chunk."""
        self.first = self.first or next(iter(chunk), None)
        self.count += len(chunk)
        for one in chunk:
            document = one.row.example.doc_id
            self.documents.append(document and sys.intern(document))
            for column, score in zip(self.columns, one.scores, strict=True):
                column.append(score)
            if one.row.problem is not None:
                self.n_unread += 1
                self.first_unread = self.first_unread or one.row.problem
