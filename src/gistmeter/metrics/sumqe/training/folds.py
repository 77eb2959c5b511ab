"""Folds: what is held out in turn, and how well it was rated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.core.errors import DataError
from gistmeter.metrics.sumqe.training.rows import Rated, split


@dataclass(frozen=True, slots=True)
class Fold:
    """A part of the rows.

    Args:
        name: Of its folder.
        rest: What is learned from.
        held: What is scored.
    """

    name: str
    rest: list[Rated]
    held: list[Rated]


def folds_of(rated: Sequence[Rated], kind: str, seed: int) -> list[Fold]:
    """Cut rows into folds.

    A row whose text lies within a held-out one, as sentences that were rated by themselves do, is not
    learned from.

    Args:
        rated: All rows.
        kind: `sets` for one fold a data set, or how many parts of the documents.
        seed: Another one gives other parts.

    Raises:
        DataError: If a fold would be empty, or leave nothing to learn from.
    """
    names = list(dict.fromkeys(row.set for row in rated))
    if kind == "sets":
        cuts = [
            (name, [row for row in rated if row.set != name], [row for row in rated if row.set == name])
            for name in names
        ]
    else:
        cuts = [(str(at), *split(rated, int(kind), seed, at)) for at in range(int(kind))]
    folds = []
    for name, others, held in cuts:
        all_held = "\n".join(_bare(row.text) for row in held)
        rest = [row for row in others if _bare(row.text) not in all_held]
        if not rest or not held:
            raise DataError(f"fold {name} leaves {len(rest)} rows to learn from and {len(held)} to score")
        folds.append(Fold(f"fold-{name}", rest, held))
    return folds


def fold_figures(lines: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return Pearson's r with people for each set and quality, over rows and over the systems' means.

    Args:
        lines: As in `predictions.jsonl`.
    """
    figures: dict[str, float] = {}
    for name in dict.fromkeys(line["set"] for line in lines):
        own = [line for line in lines if line["set"] == name and line["said"]]
        for quality in dict.fromkeys(quality for line in own for quality in line["people"]):
            known = [line for line in own if quality in line["people"]]
            said, people = (np.array([line[side][quality] for line in known]) for side in ("said", "people"))
            figures[f"{name}_{quality}_rows"] = pearson(said, people)
            systems = [line["system"] for line in known]
            if len(set(systems)) > 2:
                means = [
                    np.array(
                        [side[[one == system for one in systems]].mean() for system in dict.fromkeys(systems)]
                    )
                    for side in (said, people)
                ]
                figures[f"{name}_{quality}_systems"] = pearson(*means)
    return figures


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
