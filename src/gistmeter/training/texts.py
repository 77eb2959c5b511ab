"""Read pairs of texts from row files and split them into training and validation."""

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gistmeter.core.errors import DataError

PARTS = 10
"""By default, one in ten documents is held out for validation."""
RUN = 12
"""Number of words of the runs by which `without` compares texts."""
REPEATED = 0.2
"""Share of a text's runs that must be in another text for `without` to drop it."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """A document and a shorter text about it.

    Args:
        source: The document.
        candidate: Its summary or simplification.
        language: Language of both, as spaCy's code; None if the recipe does not name one for the file.
    """

    source: str
    candidate: str
    language: str | None = None


def read_pairs(
    folder: Path, sets: Sequence[Mapping[str, Any]], *, parts: int = PARTS
) -> tuple[list[TextPair], list[TextPair]]:
    """Read pairs of texts and hold out a share of the documents.

    Args:
        folder: Data folder.
        sets: One table per file: `file`, and optionally `where` (column → allowed values), `prefix` (of the
            row id), `limit` (number of rows), `repeat` (number of copies in the training data), `source` and
            `candidate` (column names, if they differ), `language` (of both texts), `leave_out` (files of
            benchmark rows: pairs whose source repeats one of their sources are dropped).
        parts: Hold out one in `parts` documents.

    Returns:
        Training pairs and validation pairs; pairs with the same source are in the same split.

    Raises:
        DataError: If a file is missing or has no matching row.
    """
    training, validation = [], []
    for chosen in sets:
        found = _pairs(folder / str(chosen["file"]), chosen)
        for name in chosen.get("leave_out", ()):
            found = without(found, [str(row.get("source", "")) for row in read_rows(folder / str(name))])
        if not found:
            raise DataError(f"{folder / str(chosen['file'])} has no matching row; check data.sets")
        for pair in found[: chosen.get("limit")]:
            if held_out(pair.source, parts):
                validation.append(pair)
            else:
                training += [pair] * int(chosen.get("repeat", 1))
    return training, validation


def held_out(text: str, parts: int = PARTS) -> bool:
    """Return whether a document is held out, based on a hash of its text."""
    return part_of(text, parts) == 0


def part_of(text: str, parts: int) -> int:
    """Return the part, from 0 to `parts` − 1, that a text is assigned to by its hash."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % parts


def _pairs(path: Path, chosen: Mapping[str, Any]) -> list[TextPair]:
    source, candidate = (str(chosen.get(side, side)) for side in ("source", "candidate"))
    pairs = [
        TextPair(str(row[source]), str(row[candidate]), chosen.get("language"))
        for row in wanted_rows(path, chosen.get("where", {}), str(chosen.get("prefix", "")))
        if row.get(source) and row.get(candidate)
    ]
    return list(dict.fromkeys(pairs))


def without(pairs: Sequence[TextPair], texts: Iterable[str]) -> list[TextPair]:
    """Return the pairs whose source does not repeat one of the texts.

    A source repeats the texts if they contain more than a share of `REPEATED` of its runs of `RUN` words, in
    lower case and without punctuation. A text of fewer words is one run.
    """
    known = {run for text in dict.fromkeys(texts) for run in _runs(text)}
    return [pair for pair in pairs if not _repeats(_runs(pair.source), known)]


def _repeats(runs: set[tuple[str, ...]], known: set[tuple[str, ...]]) -> bool:
    return len(runs & known) > REPEATED * len(runs)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", text.lower())
    return {tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))}


def wanted_rows(path: Path, where: Mapping[str, Any], prefix: str) -> Iterator[dict[str, Any]]:
    """Read the rows of a file that match a recipe's filters.

    Args:
        path: File of JSON lines; see `read_rows`.
        where: Column → allowed values.
        prefix: Prefix of the row ids.
    """
    for row in read_rows(path):
        if is_wanted(row, where) and str(row.get("id", "")).startswith(prefix):
            yield row


def is_wanted(row: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Return whether each column of `where` has one of its allowed values in a row."""
    return all(row.get(column) in allowed for column, allowed in where.items())


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read the objects of a JSON lines file, plain or gzip-compressed.

    Raises:
        DataError: If the file cannot be read, or a line is not a JSON object.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise DataError(f"{path}, line {number}: not a JSON object")
                yield row
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
