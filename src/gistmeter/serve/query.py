"""The query of a request: which metrics, and how many spans."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from starlette.requests import Request

from gistmeter.core.errors import UsageError
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.core.score_row import json_line, score_row
from gistmeter.io.output import parse_spans, worst_spans
from gistmeter.serve.problems import Problem
from gistmeter.serve.service import Service


@dataclass(frozen=True, slots=True)
class Query:
    """What the query of a request asks for.

    Args:
        service: Of the application.
        labels: The metrics.
        spans: The most spans of a score; None for all.
    """

    service: Service
    labels: tuple[str, ...]
    spans: int | None

    @classmethod
    def of(cls, request: Request) -> "Query":
        """Read the query: `metric` (repeatable) and `spans` (all, none, worst=N).

        Raises:
            Problem: If a value does not exist, or the metrics are not ready.
        """
        service: Service = request.app.state.service
        for name in request.query_params:
            if name not in ("metric", "spans"):
                raise Problem("bad-request", f"no parameter {name!r}; there are: metric, spans")
        try:
            spans = parse_spans(request.query_params.get("spans", "all"))
        except UsageError as error:
            raise Problem("bad-request", str(error).removeprefix("--")) from None
        return cls(service, service.chosen(request.query_params.getlist("metric")), spans)

    def lines(self, row: Row, scores: Sequence[Score]) -> list[bytes]:
        """Return the scores of a row as lines of JSON, in the format of `gistmeter score -o`."""
        lines = []
        for label, score in zip(self.labels, scores, strict=True):
            cut = replace(score, spans=tuple(worst_spans(score.spans, self.spans)))
            lines.append(json_line(score_row(label, cut, self.service.signatures[label], row.example)))
        return lines
