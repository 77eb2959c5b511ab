"""Make synthetic pairs for the entailment model from documents and their summaries."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.options import options_from
from gistmeter.models.fill.load import load_filler
from gistmeter.models.fill.protocol import Filler
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.factors import Pipeline, load_pipeline
from gistmeter.training.recipes.entailment.filled import KIND as FILLED
from gistmeter.training.recipes.entailment.filled import filled
from gistmeter.training.recipes.entailment.made import KINDS, ON_REQUEST, make
from gistmeter.training.recipes.entailment.parsed import Document, parse_pairs
from gistmeter.training.recipes.entailment.rows import Labelled
from gistmeter.training.texts import TextPair, read_pairs

AT_ONCE = 48
"""Documents parsed per call."""


@dataclass(frozen=True, slots=True)
class SyntheticData:
    """The `data.synthetic` table of a recipe, except `sets`.

    Args:
        rows: Training rows of each kind.
        other_rows: Kind → number of training rows instead of `rows`; 0 disables a kind.
        held_out: Validation rows of each kind.
        filler: Model that makes the kind `filler`, for example `gistmeter/fill`; empty disables the kind.
        seed: Seed of all draws.
    """

    rows: int = 300
    other_rows: Mapping[str, int] = field(default_factory=dict)
    held_out: int = 10
    filler: str = ""
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("rows", "held_out"):
            if getattr(self, name) < 0:
                raise UsageError(f"data.synthetic.{name}={getattr(self, name)}: give at least 0")
        for kind in self.other_rows:
            if kind not in KINDS:
                known = ", ".join(KINDS)
                raise UsageError(f"data.synthetic.other_rows: unknown kind {kind!r}; choose from: {known}")

    def wanted(self, rows: int, other_rows: Mapping[str, int]) -> dict[str, int]:
        """Return the number of rows of each enabled kind; see `ON_REQUEST` for the others."""
        kinds = [kind for kind in KINDS if kind != FILLED or self.filler]
        return {kind: other_rows.get(kind, 0 if kind in ON_REQUEST else rows) for kind in kinds}


def read_synthetic(
    folder: Path, given: Mapping[str, Any], *, parts: int
) -> tuple[list[Labelled], list[Labelled]]:
    """Make the synthetic pairs of a recipe; training and validation share no document.

    Args:
        folder: Data folder.
        given: The recipe's `data.synthetic` table: `sets` (see `read_pairs`) and the `SyntheticData` options.
        parts: Hold out one in `parts` documents.

    Returns:
        Training pairs and validation pairs.

    Raises:
        UsageError: If an option is unknown or out of range.
        DataError: If a file is missing, or the texts allow no pair of a requested kind.
        ModelError: If the pipeline or the filler is missing.
    """
    single = {name: value for name, value in given.items() if name not in ("sets", "other_rows")}
    options = replace(options_from(SyntheticData, single), other_rows=given.get("other_rows", {}))
    pairs = read_pairs(folder, given.get("sets", ()), parts=parts)
    pipeline = load_pipeline()
    filler = load_filler(options.filler, Runtime(progress=False)) if options.filler else None
    wanted = (
        options.wanted(options.rows, options.other_rows),
        options.wanted(options.held_out, {}),
    )
    training, validation = (
        make_rows(own, count, pipeline, filler=filler, seed=options.seed)
        for own, count in zip(pairs, wanted, strict=True)
    )
    return training, validation


def make_rows(
    pairs: Sequence[TextPair],
    wanted: Mapping[str, int],
    pipeline: Pipeline,
    *,
    filler: Filler | None = None,
    seed: int = 1,
) -> list[Labelled]:
    """Make synthetic pairs, at most one of each kind per document, until the wanted numbers are reached.

    Args:
        pairs: Documents with their summaries or simplifications.
        wanted: Kind → number of rows.
        pipeline: English pipeline with entities, tags and dependencies.
        filler: Filler that makes the kind `filler`.
        seed: Seed of all draws.

    Raises:
        DataError: If the texts allow no pair of a requested kind.
    """
    rng = random.Random(seed)
    order = rng.sample(pairs, len(pairs))
    made: list[Labelled] = []
    counts: Counter[str] = Counter()
    for at in range(0, len(order), AT_ONCE):
        missing = [kind for kind, rows in wanted.items() if counts[kind] < rows]
        if not missing:
            break
        documents = parse_pairs(order[at : at + AT_ONCE], pipeline)
        found: list[tuple[str, Labelled]] = []
        if FILLED in missing and filler is not None:
            found += [(FILLED, row) for row in filled(documents, filler, rng)]
        for document, other in zip(documents, _others(documents, rng), strict=True):
            rows = ((kind, make(kind, document, other, rng)) for kind in missing if kind != FILLED)
            found += [(kind, row) for kind, row in rows if row is not None]
        for kind, row in found:
            if counts[kind] < wanted[kind]:
                counts[kind] += 1
                made.append(row)
    if none := [kind for kind, rows in wanted.items() if rows and not counts[kind]]:
        raise DataError(
            f"the texts allow no synthetic pair of the kind {none[0]}; add texts, or set its rows to 0"
        )
    return made


def _others(documents: Sequence[Document], rng: random.Random) -> list[Document]:
    """Return another document for each, with the same casing if possible."""
    found = []
    for document in documents:
        rest = [other for other in documents if other.source != document.source] or [document]
        alike = [other for other in rest if other.source.islower() == document.source.islower()]
        found.append(rng.choice(alike or rest))
    return found
