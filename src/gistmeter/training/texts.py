"""Pairs of texts to train on, read from row files and split once and for all."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gistmeter.core.errors import DataError

PARTS = 10
"""Unless a recipe says otherwise, one part in ten is held out for validation."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """A document and a shorter text about it.

    Args:
        source: The document.
        candidate: Its summary or simplification.
    """

    source: str
    candidate: str


def read_pairs(
    folder: Path, sets: Sequence[Mapping[str, Any]], *, parts: int = PARTS
) -> tuple[list[TextPair], list[TextPair]]:
    """Read pairs and hold a part of the documents out.

    Args:
        folder: Where the files are.
        sets: Of each file: `file`, and optionally `where` (column → allowed values), `prefix` (of the row's
            id), `limit` (rows), `repeat` (how often each row is drawn, compared with others), `source` and
            `candidate` (columns that are called otherwise).
        parts: One part in so many is held out.

    Returns:
        Training pairs and validation pairs; pairs with an equal source are on the same side.

    Raises:
        DataError: If a file is missing, or has no row that fits.
    """
    training, validation = [], []
    for chosen in sets:
        found = _pairs(folder / str(chosen["file"]), chosen)
        if not found:
            raise DataError(f"{folder / str(chosen['file'])} has no row that the recipe asks for")
        for pair in found:
            if held_out(pair.source, parts):
                validation.append(pair)
            else:
                training += [pair] * int(chosen.get("repeat", 1))
    return training, validation


def held_out(text: str, parts: int = PARTS) -> bool:
    """Tell whether a document belongs to the part that is held out, by a hash of it."""
    return part_of(text, parts) == 0


def part_of(text: str, parts: int) -> int:
    """Return which of so many parts a text belongs to, from 0, by a hash of it."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % parts


def _pairs(path: Path, chosen: Mapping[str, Any]) -> list[TextPair]:
    source, candidate = (str(chosen.get(side, side)) for side in ("source", "candidate"))
    pairs = [
        TextPair(str(row[source]), str(row[candidate]))
        for row in wanted_rows(path, chosen.get("where", {}), str(chosen.get("prefix", "")))
        if row.get(source) and row.get(candidate)
    ]
    return list(dict.fromkeys(pairs))[: chosen.get("limit")]


def wanted_rows(path: Path, where: Mapping[str, Any], prefix: str) -> Iterator[dict[str, Any]]:
    """Read the rows that a recipe asks for.

    Args:
        path: As `read_rows` takes it.
        where: Column → values that are allowed.
        prefix: Of the rows' ids.
    """
    for row in read_rows(path):
        fits = all(row.get(column) in allowed for column, allowed in where.items())
        if fits and str(row.get("id", "")).startswith(prefix):
            yield row


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read the objects of a file of JSON lines, plain or compressed with gzip.

    Raises:
        DataError: If the file cannot be read, or a line is no object.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise DataError(f"{path}, line {number}: not an object")
                yield row
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
