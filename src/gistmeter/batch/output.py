"""Output rows: a strict JSON line a row and metric, and what is left out of it."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature

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


def score_row(
    label: str, score: Score, signature: Signature, example: Example, *, spans: int | None = None
) -> dict[str, object]:
    """Return a score as an output row.

    Args:
        label: What the metric is called in the output.
        score: Of the example.
        signature: Of the metric.
        example: Whose system and document are repeated in the row.
        spans: How many of its spans to keep, as in `worst_spans`.

    Returns:
        The keys `id, metric, value, parts, spans, flags, problem, signature, system, doc_id`. A number
        that is undefined is None. `index` stands in spans and flags about a reference only.

    >>> row = score_row("chrf", Score("1", 0.5), Signature.of("chrf", version=1), Example("1", "A cat."))
    >>> row["value"], row["problem"], row["signature"]
    (0.5, None, 'chrf|version=1')
    """
    return {
        "id": score.id,
        "metric": label,
        "value": _number(score.value),
        "parts": {name: _number(value) for name, value in score.parts.items()},
        "spans": [_span(span) for span in worst_spans(score.spans, spans)],
        "flags": [_flag(flag) for flag in score.flags],
        "problem": score.problem,
        "signature": signature.text,
        "system": example.system,
        "doc_id": example.doc_id,
    }


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
    return b"".join(map(_line, rows))


def _line(row: Mapping[str, object]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which only an ASCII escape can carry
        return json.dumps(row, allow_nan=False).encode() + b"\n"


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _span(span: Span) -> dict[str, object]:
    fields: dict[str, object] = {
        "side": span.side,
        "start": int(span.start),
        "end": int(span.end),
        "value": _number(span.value),
        "weight": _number(span.weight),
        "note": span.note,
    }
    return fields | ({"index": int(span.index)} if span.side == "reference" else {})


def _flag(flag: Flag) -> dict[str, object]:
    fields: dict[str, object] = {"name": flag.name}
    if flag.side is not None:
        fields["side"] = flag.side
    index = flag.index if flag.side == "reference" else None
    numbers = {"kept": flag.kept, "total": flag.total, "index": index}
    return fields | {name: int(number) for name, number in numbers.items() if number is not None}
