"""Texts with errors: GO FIGURE's own, and references into which gistmeter injects errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gistmeter.bench.suites.analyses.cloze import Change
from gistmeter.bench.suites.analyses.gofigure import FAMILIES, LEVELS, Corrupted, Family, corrupt, others
from gistmeter.bench.suites.context import BenchmarkContext, NotRunError
from gistmeter.bench.suites.tables import Data
from gistmeter.core.example import Example
from gistmeter.core.row import Row
from gistmeter.text.factors import Pipeline

DATA = "gofigure_auto"
FIELDS = {"candidate": "reference", "references": "reference", "system": "dataset"}
RANDOM = "random_summary"
COLUMNS: dict[Family, tuple[str, ...]] = {
    "entity": tuple(f"transformed.entity_{level}" for level in range(LEVELS)),
    "other": tuple(f"transformed.verb_{level}" for level in range(LEVELS)),
}
"""Columns with the texts of levels 1 to 3."""
SETS = {
    DATA: Data(DATA, FIELDS),
    **{
        column: Data(DATA, {**FIELDS, "candidate": column}, f"{DATA} {column}")
        for column in (*COLUMNS["entity"], *COLUMNS["other"], RANDOM)
    },
}
"""Column → the rows with its texts as candidates; the references are the texts without errors."""


@dataclass(frozen=True, slots=True)
class TextSet:
    """The same texts in five states.

    Args:
        states: Rows without errors, with the errors of levels 1 to 3, and with other texts.
        changed: Whether each text has an error at level 1.
        changes: Errors of each text at level 1, without deletions; empty lists if they are not known.
    """

    states: Sequence[Sequence[Row]]
    changed: Sequence[bool]
    changes: Sequence[Sequence[Change]]


def own_texts(context: BenchmarkContext, rows: Sequence[Row]) -> dict[Family, TextSet]:
    """Return GO FIGURE's own texts of both families of errors.

    Args:
        context: Context with the rows of all columns.
        rows: Rows without errors.

    Raises:
        NotRunError: If a column is missing.
    """
    found = {}
    for family in FAMILIES:
        columns = [_by_id(context, column) for column in (*COLUMNS[family], RANDOM)]
        kept = [row for row in rows if all(row.example.id in column for column in columns)]
        states = [kept, *([column[row.example.id] for row in kept] for column in columns)]
        if not kept:
            raise NotRunError(f"no text of {DATA} has the columns {', '.join(COLUMNS[family])}")
        changed = [a.example.candidate != b.example.candidate for a, b in zip(*states[:2], strict=True)]
        found[family] = TextSet(states, changed, [()] * len(kept))
    return found


def injected(examples: Sequence[Example], pipeline: Pipeline, *, seed: int) -> dict[Family, TextSet]:
    """Inject errors into texts with room for three errors of a family.

    Args:
        examples: Texts without errors, of at least two documents.
        pipeline: English pipeline with entities, tags and dependencies.
        seed: Seed of the errors.
    """
    made = corrupt([(e.candidate, e.source or "") for e in examples], pipeline, seed=seed)
    strangers = others([example.candidate for example in examples])
    found = {}
    for family in FAMILIES:
        kept = [at for at, levels in enumerate(made) if family in levels]
        levels = [made[at][family] for at in kept]
        texts = [[examples[at].candidate for at in kept]]
        texts += [[own[level].text for own in levels] for level in range(LEVELS)]
        texts.append([strangers[at] for at in kept])
        states = [[_row(examples[at], text) for at, text in zip(kept, state, strict=True)] for state in texts]
        found[family] = TextSet(
            states,
            [True] * len(kept),
            [changes_of(own[0], text) for own, text in zip(levels, texts[0], strict=True)],
        )
    return found


def changes_of(corrupted: Corrupted, text: str) -> list[Change]:
    """Return the places of the errors in a text with errors; deletions have no place and are left out.

    Args:
        corrupted: Text with errors.
        text: Text without errors.
    """
    changes, shift = [], 0
    for error in sorted(corrupted.errors, key=lambda error: error.start):
        start = error.start + shift
        if error.wrong:
            changes.append(Change(start, start + len(error.wrong), text[error.start : error.end]))
        shift += len(error.wrong) - (error.end - error.start)
    return changes


def _by_id(context: BenchmarkContext, column: str) -> Mapping[str, Row]:
    return {row.example.id: row for row in context.take(SETS[column].key)}


def _row(example: Example, text: str) -> Row:
    return Row(Example(example.id, text, example.source, example.references))
