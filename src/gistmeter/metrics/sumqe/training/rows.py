"""Read texts with human ratings, on a scale from 0 (bad) to 1 (good) for each quality."""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.options import options_from
from gistmeter.metrics.sumqe.qualities import HIGHEST, LOWEST, QUALITIES
from gistmeter.metrics.sumqe.training.duc import read_duc
from gistmeter.training.texts import is_wanted, part_of, read_rows


@dataclass(frozen=True, slots=True)
class Rated:
    """Text with human or synthetic labels.

    Args:
        text: Text to rate.
        labels: Labels from 0 (bad) to 1 (good) by quality; unknown qualities are missing.
        set: Name of the data set.
        document: ID of the document; rows of one document stay in the same split.
        system: System that produced the text; empty if unknown.
        repeat: Occurrences per epoch.
    """

    text: str
    labels: Mapping[str, float]
    set: str
    document: str
    system: str = ""
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class RatedSet:
    """Data set with human ratings; set either `file` or `duc`.

    Args:
        name: Name of the data set in reported metrics.
        file: File of rows with `candidate` and `scores`, or with `text` and one column for each score.
        duc: Folder of one year of DUC, in the layout of NIST's distribution.
        low: Lowest possible rating.
        high: Highest possible rating.
        repeat: Occurrences of each row per epoch.
        limit: Maximum number of rows, drawn at random; 0 for all.
        scores: Quality by name in the rows' `scores`.
        where: Allowed values by column.
    """

    name: str
    file: str = ""
    duc: str = ""
    low: float = LOWEST
    high: float = HIGHEST
    repeat: int = 1
    limit: int = 0
    scores: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read_set(folder: Path, given: Mapping[str, Any]) -> list[Rated]:
    """Read a data set, with labels scaled to 0..1.

    Args:
        folder: Folder of the files.
        given: Description of the data set; see `RatedSet`.

    Raises:
        UsageError: If the description is incomplete or invalid.
        DataError: If a file is missing or invalid.
    """
    scores, where = dict(given.get("scores", {})), dict(given.get("where", {}))
    plain = {name: value for name, value in given.items() if name not in ("scores", "where")}
    some = options_from(RatedSet, plain) if "name" in plain else RatedSet("")
    some = replace(some, scores=scores, where=where)
    wrong = some.high <= some.low or some.repeat < 1 or some.limit < 0
    if not some.name or bool(some.file) == bool(some.duc) or wrong:
        raise UsageError(
            "data.sets: give each set a name, either file or duc, high above low, repeat at least 1, and no "
            "negative limit"
        )
    unknown = sorted(set(scores.values()) - set(QUALITIES))
    if unknown or (some.file and not scores):
        known = ", ".join(QUALITIES)
        raise UsageError(
            f"{some.name}: scores must map names to qualities, such as {{ fluency = … }}; use {known}"
        )
    if some.duc:
        rows = [
            Rated(
                one.text,
                {q: _share(v, some) for q, v in one.scores.items()},
                some.name,
                one.docset,
                one.peer,
                some.repeat,
            )
            for one in read_duc(folder / some.duc)
        ]
    else:
        rows = _file_rows(folder / some.file, some)
    if not rows:
        raise DataError(
            f"{some.name}: no row has a number for {', '.join(scores) or 'any quality'}; add ratings"
        )
    return rows


def _file_rows(path: Path, some: RatedSet) -> list[Rated]:
    rows = []
    for number, row in enumerate(read_rows(path), 1):
        if not is_wanted(row, some.where):
            continue
        text = row.get("candidate", row.get("text"))
        if not isinstance(text, str):
            raise DataError(f"{path}, row {number}: candidate must be a text; add or correct it")
        given = row.get("scores", row)
        known = given if isinstance(given, dict) else {}
        labels = {
            q: _share(known[name], some) for name, q in some.scores.items() if _is_number(known.get(name))
        }
        if labels and text.strip():
            document = str(row.get("doc_id") or row.get("id") or text)
            rows.append(Rated(text, labels, some.name, document, str(row.get("system") or ""), some.repeat))
    return random.Random(some.name).sample(rows, some.limit) if 0 < some.limit < len(rows) else rows


def split(rows: Sequence[Rated], parts: int, seed: int, number: int = 0) -> tuple[list[Rated], list[Rated]]:
    """Hold out one part of the documents, selected by a hash.

    Args:
        rows: Rows to split.
        parts: Number of parts, at least 2.
        seed: Seed of the split.
        number: Number of the held-out part, from 0.

    Returns:
        Training rows and held-out rows.
    """
    kept: list[Rated] = []
    held: list[Rated] = []
    for row in rows:
        if part_by_seed(row.document, parts, seed) == number:
            held.append(row)
        else:
            kept.append(row)
    return kept, held


def part_by_seed(document: str, parts: int, seed: int) -> int:
    """Return the part that a document belongs to, from 0 to parts − 1, for a seed."""
    return part_of(f"{seed}\n{document}", parts)


def labelled(rows: Iterable[Rated], qualities: Sequence[str]) -> list[Rated]:
    """Return the rows with a label for at least one of the qualities."""
    return [row for row in rows if any(name in row.labels for name in qualities)]


def _share(score: float, some: RatedSet) -> float:
    return (float(score) - some.low) / (some.high - some.low)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
