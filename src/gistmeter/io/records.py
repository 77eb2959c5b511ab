"""Convert records, mappings of columns to values, to rows."""

import json
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Real

from gistmeter.core.errors import BadRow, UsageError
from gistmeter.core.example import Example, is_missing
from gistmeter.core.language import primary
from gistmeter.core.nearest import did_you_mean
from gistmeter.core.row import FIELDS, Row


def check_fields(fields: Mapping[str, str]) -> None:
    """Check that the fields of a column mapping exist.

    Raises:
        UsageError: If a field does not exist; the message names the most similar one.
    """
    for name in fields:
        if name not in FIELDS and not name.startswith("scores."):
            hint = did_you_mean(name, FIELDS)
            raise UsageError(f"no field {name!r}{hint}; there are: {', '.join(FIELDS)}, scores.NAME")


def row_from(record: Mapping[str, object], number: int, fields: Mapping[str, str]) -> Row:
    """Convert a record to a row.

    Args:
        record: The value of each column. None, NaN, and pandas' NA and NaT are missing values.
        number: The id of a record that has none.
        fields: The column of each field whose column has another name.

    Raises:
        BadRow: If there is no candidate, or a value has the wrong type.

    >>> row_from({"summary": "A cat.", "scores.fluency": 4}, 1, {"candidate": "summary"}).scores
    {'fluency': 4.0}
    """
    values = {name: _known(_column(record, fields.get(name, name))) for name in FIELDS}
    candidate = _text("candidate", values["candidate"])
    if candidate is None:
        raise BadRow(f"no candidate: {fields.get('candidate', 'candidate')!r} is missing or null")
    example = Example(
        _label("id", values["id"]) or str(number),
        candidate,
        source=_text("source", values["source"]),
        references=_references(values["references"]),
        system=_label("system", values["system"]),
        doc_id=_label("doc_id", values["doc_id"]),
        language=_language(values["language"]),
    )
    return Row(example, _scores(record, values["scores"], fields))


def labels_of(record: Mapping[str, object], fields: Mapping[str, str]) -> dict[str, str]:
    """Return the id, the system and the document of a record whose other columns may be unreadable."""
    found = {}
    for name in ("id", "system", "doc_id"):
        with suppress(BadRow):
            label = _label(name, _known(_column(record, fields.get(name, name))))
            if label is not None:
                found[name] = label
    return found


def _column(record: Mapping[str, object], name: str) -> object:
    """Return the value of a column; `outer.inner` names an entry of an object, unless it is a column."""
    outer, _, inner = name.partition(".")
    nested = record.get(outer)
    if name not in record and inner and isinstance(nested, Mapping):
        return nested.get(inner)
    return record.get(name)


def _known(value: object) -> object:
    return None if is_missing(value) else value


def _text(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise BadRow(f"{name} must be a string, not {type(value).__name__}")


def _label(name: str, value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | Real):
        raise BadRow(f"{name} must be a string or a number, not {type(value).__name__}")
    return str(value) or None


def _language(value: object) -> str | None:
    tag = _text("language", value)
    try:
        return primary(tag) if tag else None
    except ValueError as error:
        raise BadRow(str(error)) from None


def _references(value: object) -> tuple[str, ...]:
    """Return the references; a missing one becomes an empty text, which keeps the indices of the others."""
    given = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise BadRow("references must be a list of texts, or one text")
    texts = ["" if is_missing(text) else text for text in given]
    if not all(isinstance(text, str) for text in texts):
        raise BadRow("references must be a list of texts, or one text")
    return tuple(texts)


def _scores(record: Mapping[str, object], given: object, fields: Mapping[str, str]) -> dict[str, float]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise BadRow('scores are not valid JSON; write {"fluency": 4.5}') from None
    if given is not None and not isinstance(given, Mapping):
        raise BadRow("scores must be an object: {dimension: number}")
    columns = {**{name: name for name in record}, **fields}
    flat = {name[7:]: record.get(column) for name, column in columns.items() if name.startswith("scores.")}
    numbers = {dimension: _number(value) for dimension, value in {**(given or {}), **flat}.items()}
    return {dimension: number for dimension, number in numbers.items() if number is not None}


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # raises for anything but a number
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
