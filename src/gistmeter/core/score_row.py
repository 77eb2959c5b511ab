"""Convert a score to an output row, with the same keys in files, data frames and `Report.to_dict`."""

import json
import math
from collections.abc import Mapping

from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature


def score_row(label: str, score: Score, signature: Signature, example: Example) -> dict[str, object]:
    """Return a score as an output row.

    Args:
        label: The metric's name in the output.
        score: The example's score.
        signature: The metric's signature.
        example: The scored example; the row repeats its system and document.

    Returns:
        A dict with the keys `id, metric, value, parts, spans, flags, problem, signature, system, doc_id`. An
        undefined number is None. Only spans and flags of references have an `index`.

    >>> row = score_row("chrf", Score("1", 0.5), Signature.of("chrf", version=1), Example("1", "A cat."))
    >>> row["value"], row["problem"], row["signature"]
    (0.5, None, 'chrf|version=1')
    """
    return {
        "id": score.id,
        "metric": label,
        "value": _number(score.value),
        "parts": {name: _number(value) for name, value in score.parts.items()},
        "spans": [_span(span) for span in score.spans],
        "flags": [_flag(flag) for flag in score.flags],
        "problem": score.problem,
        "signature": signature.text,
        "system": example.system,
        "doc_id": example.doc_id,
    }


def json_line(row: Mapping[str, object]) -> bytes:
    """Return a row as one line of strict JSON, UTF-8.

    Raises:
        ValueError: If the row contains NaN or infinity, which strict JSON does not allow.
    """
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which only an ASCII escape can represent
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
