"""Read labeled pairs for the entailment model: premise, hypothesis, and the classes its label allows."""

import math
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gistmeter.core.errors import DataError
from gistmeter.text.sentences import split_sentences
from gistmeter.training.texts import part_of, wanted_rows

CLASSES = ("entailment", "neutral", "contradiction")
ALLOWED: Mapping[str, tuple[int, ...]] = {
    "entailment": (0,),
    "neutral": (1,),
    "contradiction": (2,),
    "not_entailment": (1, 2),
    "supported": (0,),
    "not_supported": (1, 2),
    "refuted": (2,),
    "unlabeled": (0, 1, 2),
}
"""Label → allowed classes. Binary data sets do not distinguish neutral from contradiction; pairs without a
label, which only a teacher can judge, allow all."""
NAMES = (("premise", "hypothesis"), ("evidence", "claim"))
"""Column names of premise and hypothesis in the two row formats."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A labeled premise–hypothesis pair.

    Args:
        premise: Evidence.
        hypothesis: Claim.
        allowed: Indices of the classes that the label allows.
        set: Name of the data set.
    """

    premise: str
    hypothesis: str
    allowed: tuple[int, ...]
    set: str


def read_labelled(
    folder: Path, sets: Sequence[Mapping[str, Any]], *, parts: int, seed: int
) -> tuple[list[Labelled], list[Labelled]]:
    """Read labeled pairs and hold out a share of the premises.

    Args:
        folder: Data folder.
        sets: One table per file: `file`, `where` (column → allowed values), `limit` (number of rows, drawn
            at random), and `held_out` (number of validation rows).
        parts: Hold out one in `parts` premises.
        seed: Seed of the draw.

    Returns:
        Training pairs and validation pairs.

    Raises:
        DataError: If a file is missing or has no matching row.
    """
    training, validation = [], []
    for chosen in sets:
        path = folder / str(chosen["file"])
        found = [
            pair
            for row in wanted_rows(path, chosen.get("where", {}), str(chosen.get("prefix", "")))
            if (pair := _labelled(row)) is not None
        ]
        if not found:
            raise DataError(f"{path} has no matching labeled pair; check data.sets in the recipe")
        random.Random(seed).shuffle(found)
        held = [pair for pair in found if part_of(pair.premise, parts) == 0]
        kept = [pair for pair in found if part_of(pair.premise, parts) != 0]
        training += kept[: chosen.get("limit")]
        validation += held[: int(chosen.get("held_out", 0))]
    return training, validation


def _labelled(row: Mapping[str, Any]) -> Labelled | None:
    allowed = ALLOWED.get(str(row.get("label")))
    for premise, hypothesis in NAMES:
        if allowed and isinstance(row.get(premise), str) and isinstance(row.get(hypothesis), str):
            return Labelled(row[premise], row[hypothesis], allowed, str(row.get("dataset", "")))
    return None


def evidence(premise: str, hypothesis: str, *, most: int) -> str:
    """Return the sentences of a premise that overlap most with a hypothesis, in text order.

    Words are weighted by inverse sentence frequency in the premise. A premise of at most `most` sentences is
    returned unchanged.
    """
    sentences = [premise[start:end] for start, end in split_sentences(premise)]
    if len(sentences) <= most:
        return premise
    words = [_words(sentence) for sentence in sentences]
    counts = Counter(word for own in words for word in own)
    wanted = _words(hypothesis)
    scores = [
        sum(math.log(1 + len(sentences) / counts[word]) for word in own & wanted) / math.sqrt(len(own) + 1)
        for own in words
    ]
    best = sorted(range(len(sentences)), key=lambda at: (-scores[at], at))[:most]
    return " ".join(sentences[at] for at in sorted(best))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
