"""A finished output read back: the scores of each metric, row by row."""

import csv
import json
import math
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gistmeter.core.errors import DataError
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.io.files import is_stream, reason
from gistmeter.io.formats import check_input
from gistmeter.io.tables import kind_of, read_output

NOT_THERE = "the file has no score by this metric"
NOT_FINITE = "the value is not finite"


class RowKey(NamedTuple):
    """One row of the input: its id, and how many rows before it have the same."""

    id: str
    number: int


class Labels(NamedTuple):
    """What an output row repeats of its input row."""

    system: str | None
    doc_id: str | None


@dataclass(frozen=True, slots=True)
class ScoresOutput:
    """The output of `gistmeter score`, or several that stand one after the other in a file.

    Args:
        rows: The rows in the order in which they first stand, with their labels.
        signatures: Of each metric.
        scores: Of each metric, by row; without parts and spans unless they were asked for.
    """

    rows: Mapping[RowKey, Labels]
    signatures: Mapping[str, Signature]
    scores: Mapping[str, Mapping[RowKey, Score]]

    def score(self, label: str, key: RowKey) -> Score:
        """Return the score of a row; undefined if the file has none."""
        return self.scores[label].get(key) or Score.undefined(key.id, NOT_THERE)


def read_scores(name: str, *, whole: Collection[RowKey] = ()) -> ScoresOutput:
    """Read an output: jsonl, csv or parquet.

    Args:
        name: The file's.
        whole: The rows whose parts and spans are read too, which take far more memory than all the values.

    Raises:
        UsageError: If the format is unknown.
        DataError: If the file cannot be read, a line is no score, or a metric has two signatures.
    """
    if is_stream(name):
        raise DataError(f"{name} is a pipe, which cannot be read twice; give a file")
    check_input(name)
    rows: dict[RowKey, Labels] = {}
    signatures: dict[str, Signature] = {}
    scores: dict[str, dict[RowKey, Score]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for number, row in enumerate(_output_rows(name), 1):
        try:
            label, key = str(row["metric"]), RowKey(str(row["id"]), seen[row["metric"], str(row["id"])])
            seen[label, key.id] += 1
            signature = Signature.parse(row["signature"] or label)
            score = _score(row, whole=key in whole)
            rows.setdefault(key, Labels(row["system"], row["doc_id"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"{name}: row {number} is no output of gistmeter score: {error!r}") from None
        if signatures.setdefault(label, signature) != signature:
            raise DataError(f"{name}: row {number} has another signature of {label} than the rows before it")
        scores.setdefault(label, {})[key] = score
    if not rows:
        raise DataError(f"{name} holds no scores")
    return ScoresOutput(rows, signatures, scores)


def _output_rows(name: str) -> Iterator[dict[str, Any]]:
    try:
        yield from read_output(name, kind_of(name))
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot read {name}: {reason(error)}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{name} is no output of gistmeter score: {error}") from None


def _score(row: Mapping[str, Any], *, whole: bool) -> Score:
    id, problem, value = str(row["id"]), row["problem"], row["value"]
    flags = tuple(Flag(**flag) for flag in row["flags"] or ())
    if value is None:
        return Score.undefined(id, problem or NOT_FINITE, flags)
    if not whole:
        return Score(id, float(value), flags=flags)
    parts = {name: _number(part) for name, part in dict(_json(row["parts"]) or {}).items()}
    spans = tuple(_span(span) for span in _json(row["spans"]) or ())
    return Score(id, float(value), parts, spans, flags)


def _span(fields: Mapping[str, Any]) -> Span:
    known = {name: value for name, value in fields.items() if value is not None}
    return Span(**known | {"value": _number(fields["value"]), "weight": _number(fields.get("weight", 1.0))})


def _json(value: Any) -> Any:  # noqa: ANN401 - a cell of csv is JSON text, of the others what it stands for
    return json.loads(value) if isinstance(value, str) else value


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
