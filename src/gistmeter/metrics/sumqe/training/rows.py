"""Rated texts: what people, or a corruption, say of each quality, from 0 for bad to 1 for good."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.options import options_from
from gistmeter.metrics.sumqe.qualities import HIGHEST, LOWEST, QUALITIES
from gistmeter.metrics.sumqe.training.duc import read_duc
from gistmeter.training.texts import part_of, read_rows


@dataclass(frozen=True, slots=True)
class Rated:
    """A text and what is known of its qualities.

    Args:
        text: To be rated.
        labels: Quality → 0 (bad) to 1 (good); one that is not known is missing.
        set: Names the data set it is from.
        document: What it is about; rows of one document stay together.
        system: What produced it, if known.
        repeat: How often it comes in an epoch.
    """

    text: str
    labels: Mapping[str, float]
    set: str
    document: str
    system: str = ""
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class RatedSet:
    """A data set that people rated.

    Args:
        name: What figures call it.
        file: Rows with `candidate` and `scores`; or
        duc: the folder of one year of DUC, as NIST gives it out.
        low: The worst that people could say.
        high: The best.
        repeat: How often each row comes in an epoch.
        scores: Name in the rows' scores → quality.
    """

    name: str
    file: str = ""
    duc: str = ""
    low: float = LOWEST
    high: float = HIGHEST
    repeat: int = 1
    scores: Mapping[str, str] = field(default_factory=dict)


def read_set(folder: Path, given: Mapping[str, Any]) -> list[Rated]:
    """Read a data set, its labels on the scale of training.

    Args:
        folder: Where the files are.
        given: See `RatedSet`.

    Raises:
        UsageError: If it is not described as it should be.
        DataError: If its files are not as they should be.
    """
    plain = {name: value for name, value in given.items() if name != "scores"}
    some = options_from(RatedSet, plain) if "name" in plain else RatedSet("")
    scores = dict(given.get("scores", {}))
    if not some.name or bool(some.file) == bool(some.duc) or some.high <= some.low or some.repeat < 1:
        raise UsageError(
            "a set in data.sets needs a name, either file or duc, high above low, and repeat at least 1"
        )
    unknown = sorted(set(scores.values()) - set(QUALITIES))
    if unknown or (some.file and not scores):
        known = ", ".join(QUALITIES)
        raise UsageError(f"{some.name}: scores must name qualities, as {{ fluency = … }}: {known}")
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
        rows = _file_rows(folder / some.file, some, scores)
    if not rows:
        raise DataError(f"{some.name}: no row has a number for any of {', '.join(scores) or 'the five'}")
    return rows


def _file_rows(path: Path, some: RatedSet, scores: Mapping[str, str]) -> list[Rated]:
    rows = []
    for number, row in enumerate(read_rows(path), 1):
        text = row.get("candidate")
        if not isinstance(text, str):
            raise DataError(f"{path}, row {number}: needs a candidate, a text")
        given = row.get("scores")
        known = given if isinstance(given, dict) else {}
        labels = {q: _share(known[name], some) for name, q in scores.items() if _is_number(known.get(name))}
        if labels and text.strip():
            document = str(row.get("doc_id") or row.get("id") or text)
            rows.append(Rated(text, labels, some.name, document, str(row.get("system") or ""), some.repeat))
    return rows


def split(rows: Sequence[Rated], parts: int, seed: int, number: int = 0) -> tuple[list[Rated], list[Rated]]:
    """Hold one part in so many of the documents out, by a hash of each.

    Args:
        rows: To be split.
        parts: At least 2.
        seed: Another one holds others out.
        number: Which part, from 0.

    Returns:
        What is left, and what is held out.
    """
    kept: list[Rated] = []
    held: list[Rated] = []
    for row in rows:
        (held if part_by_seed(row.document, parts, seed) == number else kept).append(row)
    return kept, held


def part_by_seed(document: str, parts: int, seed: int) -> int:
    """Return which of so many parts a document belongs to; another seed gives other parts."""
    return part_of(f"{seed}\n{document}", parts)


def labelled(rows: Iterable[Rated], qualities: Sequence[str]) -> list[Rated]:
    """Return the rows of which any of these qualities is known."""
    return [row for row in rows if any(name in row.labels for name in qualities)]


def _share(score: float, some: RatedSet) -> float:
    return (float(score) - some.low) / (some.high - some.low)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
