"""Convert scores to and from output rows, one strict JSON line per row and metric."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gistmeter.core.errors import UsageError
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.score_row import json_line

COLUMNS = (
    "id", "metric", "value", "parts", "spans", "flags", "problem", "signature", "system", "doc_id"
)  # fmt: skip


def parse_spans(text: str) -> int | None:
    """Parse the value of `--spans` to the number of spans per score: None for all, 0 for none.

    Raises:
        UsageError: If the text is not all, none or worst=N.

    >>> parse_spans("all"), parse_spans("none"), parse_spans("worst=5")
    (None, 0, 5)
    """
    if text in ("all", "none"):
        return None if text == "all" else 0
    name, _, number = text.partition("=")
    if name != "worst" or not (number.isascii() and number.isdigit() and 0 < len(number) < 10):
        raise UsageError(f"--spans {text}: write all, none or worst=N")
    return int(number)


def worst_spans(spans: Sequence[Span], limit: int | None) -> Sequence[Span]:
    """Return the spans with the lowest values, in text order; spans without a value are chosen last.

    Args:
        spans: The spans of one score.
        limit: The maximum number of spans; None for all.

    >>> spans = [Span("candidate", at, at + 1, value) for at, value in enumerate([0.5, 0.1, math.nan, 0.3])]
    >>> [span.start for span in worst_spans(spans, 2)]
    [1, 3]
    """
    if limit is None:
        return spans
    order = sorted(range(len(spans)), key=lambda at: (math.isnan(spans[at].value), spans[at].value))
    return [spans[at] for at in sorted(order[:limit])]


def score_of(row: Mapping[str, Any]) -> Score:
    """Return the score of an output row, without its components and spans, which summaries do not use."""
    value = row["value"]
    if value is None:
        value = math.inf if row["problem"] is None else math.nan  # JSON has no infinity
    flags = tuple(Flag(**flag) for flag in row["flags"])
    return Score(row["id"], value, flags=flags, problem=row["problem"])


def json_lines(rows: Iterable[Mapping[str, object]]) -> bytes:
    """Return rows as lines of JSON.

    Raises:
        ValueError: If a row contains NaN or infinity, which strict JSON does not allow.
    """
    return b"".join(map(json_line, rows))
