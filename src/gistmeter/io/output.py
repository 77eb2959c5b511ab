"""Output rows: a strict JSON line a row and metric, and what is left out of it."""

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
    """Return how many spans of a score are written: None for all, 0 for none.

    Raises:
        UsageError: If the text is neither all, none nor worst=N.

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
    """Return the spans with the lowest values, in the order of the text; those without a value come last.

    Args:
        spans: Of one score.
        limit: How many; None for all.

    >>> spans = [Span("candidate", at, at + 1, value) for at, value in enumerate([0.5, 0.1, math.nan, 0.3])]
    >>> [span.start for span in worst_spans(spans, 2)]
    [1, 3]
    """
    if limit is None:
        return spans
    order = sorted(range(len(spans)), key=lambda at: (math.isnan(spans[at].value), spans[at].value))
    return [spans[at] for at in sorted(order[:limit])]


def score_of(row: Mapping[str, Any]) -> Score:
    """Return the score of an output row, without its parts and spans, which no summary needs."""
    value = row["value"]
    if value is None:
        value = math.inf if row["problem"] is None else math.nan  # JSON knows no infinity
    flags = tuple(Flag(**flag) for flag in row["flags"])
    return Score(row["id"], value, flags=flags, problem=row["problem"])


def json_lines(rows: Iterable[Mapping[str, object]]) -> bytes:
    """Return rows as lines of JSON.

    Raises:
        ValueError: If a row holds NaN or an infinity, which JSON does not know.
    """
    return b"".join(map(json_line, rows))
