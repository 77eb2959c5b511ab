"""Read published files as records, with errors that give the position of a problem."""

import csv
import json
import math
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gistmeter.core.errors import DataError


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a published file.

    Args:
        place: File and position, for error messages.
        values: Fields.
    """

    place: str
    values: dict[str, Any]

    def text(self, name: str) -> str:
        """Return a string field."""
        value = self._value(name)
        if not isinstance(value, str):
            raise DataError(f"{self.place}: {name!r} must be a string, not {type(value).__name__}")
        return value

    def label(self, name: str) -> str:
        """Return a string or integer field as a string."""
        value = self._value(name)
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else self.text(name)

    def number(self, name: str) -> float:
        """Return a field that is a finite number, or a string with one."""
        value = self._value(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            with suppress(ValueError, OverflowError):
                number = float(value)
                if math.isfinite(number):
                    return number
        raise DataError(f"{self.place}: {name!r} must be a number, not {value!r}")

    def records(self, name: str) -> list["Record"]:
        """Return a field that is a list of objects."""
        value = self._value(name)
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise DataError(f"{self.place}: {name!r} must be a list of objects")
        return [Record(f"{self.place}: {name} {at}", each) for at, each in enumerate(value, 1)]

    def _value(self, name: str) -> object:
        if name not in self.values:
            raise DataError(f"{self.place} has no {name!r}; check that it is the published file")
        return self.values[name]


def json_lines(path: Path) -> Iterator[Record]:
    """Yield the JSON object on each non-empty line."""
    for number, line in enumerate(lines_of(path), 1):
        if line.strip():
            yield _record(_parsed(line, f"{path} line {number}"), f"{path} line {number}")


def json_list(path: Path) -> list[Record]:
    """Return the objects of a file with one JSON list."""
    items = _parsed("\n".join(lines_of(path)), str(path))
    if not isinstance(items, list):
        raise DataError(f"{path} must be one JSON list")
    return [_record(item, f"{path} item {number}") for number, item in enumerate(items, 1)]


def csv_records(path: Path, columns: Collection[str]) -> list[Record]:
    """Return the rows of a csv file that must have at least these columns."""
    return csv_records_of("\n".join(lines_of(path)), str(path), columns)


def csv_records_of(text: str, place: str, columns: Collection[str]) -> list[Record]:
    """Return the rows of a csv text that must have at least these columns; `place` is for error messages."""
    reader = csv.DictReader((line + "\n" for line in text.split("\n")), strict=True)
    missing = [column for column in columns if column not in (reader.fieldnames or ())]
    if missing:
        raise DataError(f"{place} has no column {missing[0]!r}; check that it is the published file")
    try:
        return [Record(f"{place} line {reader.line_num}", row) for row in reader]
    except csv.Error as error:
        raise DataError(f"{place} line {reader.line_num}: {error}") from None


def lines_of(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file, split at line feeds only."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text at byte {error.start + 1}") from None
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def _parsed(text: str, place: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place} is not JSON: {error}") from None


def _record(item: object, place: str) -> Record:
    if not isinstance(item, dict):
        raise DataError(f"{place} must be a JSON object")
    return Record(place, item)
