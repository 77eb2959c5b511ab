"""Check the types of recipe values that all tasks share, before any data is read."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gistmeter.core.errors import UsageError

SET = {
    "file": str,
    "where": dict,
    "prefix": str,
    "limit": int,
    "repeat": int,
    "source": str,
    "candidate": str,
    "name": str,
    "language": str,
    "scores": dict,
}
"""Types of the keys of each table in `data.sets`, `data.made.sets` and `data.synthetic.sets`."""
DATA = {"folder": str, "sets": list, "mix": dict, "made": dict, "synthetic": dict}
MODEL = {
    "base": str,
    "name": str,
    "start": str,
    "layers": int,
    "head_scale": float,
    "batch": dict,
    "options": dict,
}
NAMES = {str: "a string", int: "an integer", float: "a number", dict: "a table", list: "a list"}


def check_shapes(content: Mapping[str, Any], path: Path) -> None:
    """Check the types of the values that have the same meaning in every task.

    Args:
        content: The whole recipe.
        path: Recipe file, for the error message.

    Raises:
        UsageError: If a value has the wrong type, or a number is NaN or infinite; the message names the key.
    """
    for name, number in _numbers(content, ""):
        if not math.isfinite(number):
            raise UsageError(f"{path}: {name}={number}: give a finite number")
    data, model = content.get("data", {}), content.get("model", {})
    _check(data, DATA, f"{path}: data")
    _check(model, MODEL, f"{path}: model")
    owners = {"data": data} | {f"data.{name}": data.get(name, {}) for name in ("made", "synthetic")}
    for place, owner in owners.items():
        _check(owner, {"sets": list}, f"{path}: {place}")
        for number, chosen in enumerate(owner.get("sets", []), 1):
            _check_set(chosen, f"{path}: {place}.sets {number}")


def _check_set(chosen: object, place: str) -> None:
    if not isinstance(chosen, dict):
        raise UsageError(f"{place}={chosen!r} is not a table; write [[data.sets]] with its file")
    _check(chosen, SET, place)
    for name in ("limit", "repeat"):
        if chosen.get(name, 1) < 1:
            raise UsageError(f"{place}.{name}={chosen[name]}: give at least 1")
    for column, values in chosen.get("where", {}).items():
        if not isinstance(values, list):
            raise UsageError(f"{place}.where.{column}={values!r} is not a list; write [{values!r}]")


def _check(part: Mapping[str, Any], kinds: Mapping[str, type], place: str) -> None:
    for name, kind in kinds.items():
        value = part.get(name)
        fits = isinstance(value, (int, float) if kind is float else kind) and not isinstance(value, bool)
        if value is not None and not fits:
            raise UsageError(f"{place}.{name}={value!r} is not {NAMES[kind]}")


def _numbers(value: object, name: str) -> Iterator[tuple[str, float]]:
    """Yield the key and value of every float."""
    if isinstance(value, float):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, name)
