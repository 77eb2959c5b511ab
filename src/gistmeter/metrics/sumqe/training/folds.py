"""Cross-validation folds, and correlations of their predictions with human ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.core.errors import DataError
from gistmeter.metrics.sumqe.training.rows import Rated, split


@dataclass(frozen=True, slots=True)
class Fold:
    """Cross-validation fold.

    Args:
        name: Name of the fold's folder.
        rest: Training rows.
        held: Held-out rows.
    """

    name: str
    rest: list[Rated]
    held: list[Rated]


def folds_of(rated: Sequence[Rated], kind: str, seed: int) -> list[Fold]:
    """Split rows into folds.

    A row whose text is contained in a held-out text, such as a single sentence of it, is excluded from
    training.

    Args:
        rated: All rows.
        kind: `sets` for one fold per data set; a number of parts of the documents, such as `3`; or of the
            systems, such as `3 systems`.
        seed: Seed of the split.

    Raises:
        DataError: If a fold has no training rows or no held-out rows.
    """
    names = list(dict.fromkeys(row.set for row in rated))
    if kind == "sets":
        cuts = [
            (name, [row for row in rated if row.set != name], [row for row in rated if row.set == name])
            for name in names
        ]
    else:
        parts, _, by = kind.partition(" ")
        cuts = [
            (str(at), *(_by_system(rated, int(parts), at) if by else split(rated, int(parts), seed, at)))
            for at in range(int(parts))
        ]
    folds = []
    for name, others, held in cuts:
        all_held = "\n".join(_bare(row.text) for row in held)
        rest = [row for row in others if _bare(row.text) not in all_held]
        if not rest or not held:
            raise DataError(
                f"fold {name} has {len(rest)} rows for training and {len(held)} held out; provide more rows"
            )
        folds.append(Fold(f"fold-{name}", rest, held))
    return folds


def _by_system(rated: Sequence[Rated], parts: int, number: int) -> tuple[list[Rated], list[Rated]]:
    """Hold out every `parts`-th system, in the order of data sets and names."""
    systems = sorted({(row.set, row.system) for row in rated})
    held = set(systems[number::parts])
    return (
        [row for row in rated if (row.set, row.system) not in held],
        [row for row in rated if (row.set, row.system) in held],
    )


def fold_figures(lines: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the Pearson correlation with human ratings for each set and quality, over rows and system means.

    Args:
        lines: Lines of `predictions.jsonl`.
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
