"""Create synthetic labels by corrupting one quality of clean texts."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gistmeter.core.errors import DataError
from gistmeter.core.options import options_from
from gistmeter.metrics.sumqe.qualities import QUALITIES
from gistmeter.metrics.sumqe.training.corrupt import DOSES, Base, corrupt, system_style
from gistmeter.metrics.sumqe.training.corrupt_words import mentions_of
from gistmeter.metrics.sumqe.training.rows import Rated
from gistmeter.text.sentences import split_sentences
from gistmeter.training.texts import wanted_rows

WORST = 0.1
"""Label of a fully corrupted text; labels decrease linearly from 1 with the corrupted share."""
OFTEN = (3, 1, 1, 1, 2)
"""Sampling weight of each quality; qualities that are hard to learn have a higher weight."""
HIDES = {
    "grammaticality": ("referential_clarity", "coherence"),
    "non_redundancy": ("coherence",),
    "referential_clarity": ("grammaticality", "coherence"),
    "focus": ("referential_clarity", "coherence"),
    "coherence": ("referential_clarity",),
}
"""Other qualities that each corruption affects by an unknown amount: they get no label. The others
keep their label, so that the model learns to distinguish the five."""
SENTENCES = {"focus": 2, "coherence": 3}
"""Minimum number of sentences for labels of a quality. Shorter texts cannot be corrupted in it, so all
their labels would be 1, and the model would learn to rate short texts as good."""


@dataclass(frozen=True, slots=True)
class CleanSet:
    """Source of clean texts.

    Args:
        file: File of rows.
        column: Column of the text. Only the beginning of a text is used, so that its references are clear.
        where: Required values by column.
        prefix: Required prefix of the row IDs.
        limit: Maximum number of texts.
        most: Maximum number of sentences per text.
        unknown: Qualities that these texts might lack; they get no label.
    """

    file: str
    column: str = "candidate"
    where: Mapping[str, Any] = field(default_factory=dict)
    prefix: str = ""
    limit: int = 1_000_000
    most: int = 6
    unknown: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Clean:
    """Clean text with its unknown qualities."""

    base: Base
    unknown: frozenset[str]


def read_clean(folder: Path, sets: Sequence[Mapping[str, Any]], seed: int) -> list[Clean]:
    """Read clean texts and find the names in them.

    Args:
        folder: Folder of the files.
        sets: Sources of clean texts; see `CleanSet`.
        seed: Seed for the number of sentences per text.

    Raises:
        DataError: If a file is invalid, or contains no matching text.
    """
    found: list[tuple[str, str, frozenset[str]]] = []
    for given in sets:
        chosen = _clean_set(given)
        texts = list(dict.fromkeys(_texts(folder / chosen.file, chosen)))
        if not texts:
            raise DataError(
                f"{folder / chosen.file} has no text that matches the recipe; check column, where, prefix"
            )
        for text in texts[: chosen.limit]:
            rng = random.Random(f"{seed}/{text}")
            cut = _beginning(text, rng.randint(1, chosen.most) if rng.random() < 0.9 else chosen.most)
            found.append((text, cut, frozenset(chosen.unknown)))
    clean = []
    for text, cut, unknown in found:
        sentences = tuple(cut[start:end] for start, end in split_sentences(cut))
        base = Base(text, sentences, tuple(map(mentions_of, sentences)))
        clean.append(Clean(base, unknown))
    return clean


def synthetic_rows(clean: Sequence[Clean], count: int, seed: int) -> list[Rated]:
    """Sample clean and corrupted texts with their labels.

    One in five texts is unchanged. Half of the texts are formatted like system output: lower case, with
    separated punctuation.

    Args:
        clean: Clean texts, at least two.
        count: Number of samples; samples that cannot be corrupted are dropped.
        seed: Random seed.
    """
    rows: list[Rated] = []
    for number in range(count):
        rng = random.Random(f"{seed}/made/{number}")
        one = rng.choice(clean)
        quality = rng.choices(QUALITIES, OFTEN)[0]
        dose = 0 if rng.random() < 0.2 else rng.randint(1, DOSES)
        row = synthetic_row(one, quality, dose, clean, rng)
        if row is not None:
            rows.append(row)
    return rows


def synthetic_row(
    one: Clean, quality: str, dose: int, clean: Sequence[Clean], rng: random.Random
) -> Rated | None:
    """Corrupt one quality of a text and label the result; return None if it cannot be corrupted."""

    def other(rng: random.Random) -> str:
        while True:
            base = rng.choice(clean).base
            if base.document != one.base.document:
                return rng.choice(base.sentences)

    few = len(one.base.sentences)
    broken = corrupt(one.base, quality, dose, other, rng) if few >= SENTENCES.get(quality, 1) else None
    if broken is None:
        return None
    shown = [name for name in QUALITIES if name not in one.unknown and few >= SENTENCES.get(name, 1)]
    labels = dict.fromkeys(shown, 1.0)
    if dose:
        labels = {name: value for name, value in labels.items() if name not in HIDES[quality]}
        labels[quality] = 1 - broken.share * (1 - WORST)
    text = " ".join(broken.sentences)
    if rng.random() < 0.5:
        text = system_style(text)
    return Rated(text, labels, f"made {quality}", one.base.document)


def _clean_set(given: Mapping[str, Any]) -> CleanSet:
    plain = {name: value for name, value in given.items() if name not in ("where", "unknown")}
    some = options_from(CleanSet, plain)
    return CleanSet(
        some.file,
        some.column,
        dict(given.get("where", {})),
        some.prefix,
        some.limit,
        some.most,
        tuple(given.get("unknown", ())),
    )


def _texts(path: Path, chosen: CleanSet) -> list[str]:
    return [
        " ".join(str(row[chosen.column]).split())
        for row in wanted_rows(path, chosen.where, chosen.prefix)
        if row.get(chosen.column)
    ]


def _beginning(text: str, sentences: int) -> str:
    places = split_sentences(text[: 400 * sentences])[:sentences]
    return text[places[0][0] : places[-1][1]]
