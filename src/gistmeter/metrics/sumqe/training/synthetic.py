"""Synthetic labels: clean texts, and what becomes of them when one quality is broken on purpose."""

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
"""The label of a text that is broken all over; what is broken in part lies evenly between it and 1."""
OFTEN = (3, 1, 1, 1, 2)
"""How often each quality is broken, compared with the others: what is hard to see is shown more often."""
HIDES = {
    "grammaticality": ("referential_clarity", "coherence"),
    "non_redundancy": ("coherence",),
    "referential_clarity": ("grammaticality", "coherence"),
    "focus": ("referential_clarity", "coherence"),
    "coherence": ("referential_clarity",),
}
"""The qualities that each damage harms besides its own, nobody knows how much: they get no label. The others
keep theirs, so that the model learns to tell the five apart."""
SENTENCES = {"focus": 2, "coherence": 3}
"""The fewest sentences that can show a quality. Shorter clean texts get no label: all of them would be called
good, as nothing of theirs can be broken, and a model learns from that to call short texts good."""


@dataclass(frozen=True, slots=True)
class CleanSet:
    """Where clean texts come from.

    Args:
        file: Rows.
        column: Of the text; of a longer one, the beginning is taken, whose references are clear.
        where: Column → values that are wanted.
        prefix: Of the wanted rows' ids.
        limit: Most texts.
        most: Most sentences of a text.
        unknown: Qualities that even these texts may lack, so that they get no label.
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
    """A clean text with what is not known of it."""

    base: Base
    unknown: frozenset[str]


def read_clean(folder: Path, sets: Sequence[Mapping[str, Any]], seed: int) -> list[Clean]:
    """Read clean texts and find the names in them.

    Args:
        folder: Where the files are.
        sets: See `CleanSet`.
        seed: Decides how many sentences are taken of each.

    Raises:
        DataError: If a file is not as it should be, or has no text that is wanted.
    """
    found: list[tuple[str, str, frozenset[str]]] = []
    for given in sets:
        chosen = _clean_set(given)
        texts = list(dict.fromkeys(_texts(folder / chosen.file, chosen)))
        if not texts:
            raise DataError(f"{folder / chosen.file} has no text that the recipe asks for")
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
    """Draw texts, clean or broken in one quality, with their labels.

    One in five is as it was. Half are written as systems write: in lower case, with spaces around marks.

    Args:
        clean: At least two texts.
        count: How many to draw.
        seed: Decides every draw.
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
    """Break one quality of a text and label what comes out; None if it cannot be broken."""

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
