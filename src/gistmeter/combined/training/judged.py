"""Read rows with human judgements and the scores of the members, and split them into folds."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.core.score import Score
from gistmeter.io.rows import read_rows
from gistmeter.io.scores_output import RowKey, read_scores

FOLDS = 10
START = 200
"""Letters and digits at the start of a source that tell it from others."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A row with human judgements and scores.

    Args:
        set: Name of the data set.
        document: What the text is about: the same for the same source in several sets.
        system: Who wrote the text, unique among all sets.
        judgements: Human scores by dimension.
        scores: Scores by the label of the metric.
        unseen: For a left-out group (`document` or `system`), the scores by metrics that were trained on this
            data set, from a training without the row's group.
    """

    set: str
    document: str
    system: str
    judgements: Mapping[str, float]
    scores: Mapping[str, Score]
    unseen: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)

    def scores_without(self, left_out: str) -> Mapping[str, Score]:
        """Return the scores that an evaluation with this kind of group left out may use."""
        return {**self.scores, **self.unseen.get(left_out, {})}


def read_judged(folder: Path, table: Mapping[str, Any], labels: Sequence[str]) -> list[Judged]:
    """Read a set of a recipe.

    Args:
        folder: The data folder.
        table: `name`; `rows`, a file of rows with human scores; `scores`, what `gistmeter score` wrote for
            them; both relative to the folder; optionally `unseen`: label of a metric → `document` and
            `system` → `predictions.jsonl` of its cross-validation over them.
        labels: The metrics whose scores are read.

    Raises:
        UsageError: If a key is missing.
        DataError: If a file cannot be read, or does not have a score by each metric for each row.
    """
    try:
        name, paths = str(table["name"]), [str(folder / str(table[key])) for key in ("rows", "scores")]
    except KeyError as error:
        raise UsageError(f"sets: add {error} to each set") from error
    rows = list(read_rows(paths[0]))
    seen: Counter[str] = Counter()
    keys = []
    for row in rows:
        keys.append(RowKey(row.example.id, seen[row.example.id]))
        seen[row.example.id] += 1
    output = read_scores(paths[1], whole=set(keys))
    missing = [label for label in labels if label not in output.scores]
    if missing or output.rows.keys() != set(keys):
        what = f"no scores by {', '.join(missing)}" if missing else "scores of other rows"
        raise DataError(f"{paths[1]} has {what}; run: gistmeter score {' '.join(labels)} -i {paths[0]}")
    unseen = _unseen(folder, name, table.get("unseen", {}), [row.example for row in rows])
    return [
        Judged(
            name,
            _document(name, row.example),
            f"{name}/{row.example.system}",
            row.scores,
            {label: output.score(label, key) for label in labels},
            own,
        )
        for row, key, own in zip(rows, keys, unseen, strict=True)
    ]


def _document(name: str, example: Example) -> str:
    """Return what rows of one source have in common, in all sets; without a source, the set and `doc_id`.

    Sets tokenize and cut the same article in their own ways, so only the letters and digits of its start
    count.
    """
    start = "".join(filter(str.isalnum, (example.source or "").casefold()))[:START]
    if not start:
        return f"{name}/{example.doc_id or example.id}"
    return hashlib.sha256(start.encode()).hexdigest()


def _unseen(
    folder: Path, name: str, files: Mapping[str, Mapping[str, str]], examples: Sequence[Example]
) -> list[dict[str, dict[str, Score]]]:
    """Return for each example, by left-out group and label, the cross-validated prediction.

    Raises:
        DataError: If a file cannot be read, or has no prediction for an example.
    """
    found: list[dict[str, dict[str, Score]]] = [{} for _ in examples]
    for label, by_group in files.items():
        for left_out, path in by_group.items():
            known = _predictions(folder / path, name)
            for example, own in zip(examples, found, strict=True):
                if example.candidate not in known:
                    raise DataError(f"{path} has no prediction for the row {example.id}")
                own.setdefault(left_out, {})[label] = known[example.candidate]
    return found


def _predictions(path: Path, name: str) -> dict[str, Score]:
    """Read the cross-validated predictions for a data set, by text.

    Raises:
        DataError: If the file cannot be read.
    """
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        said = {line["candidate"]: line["said"] for line in lines if line["set"] == name}
        return {text: Score("", fmean(parts.values()), parts) for text, parts in said.items()}
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} has no predictions of a cross-validation: {error}") from error


BY: Mapping[str, Callable[[Judged], str]] = {
    "document": lambda row: row.document,
    "system": lambda row: row.system,
    "set": lambda row: row.set,
}
"""The groups that cross-validation leaves out."""


def folds(rows: Sequence[Judged], by: Callable[[Judged], str]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the rows to fit and the rows left out, so that no group is on both sides.

    Args:
        rows: The rows.
        by: The group of a row: its document, its system or its set. Up to ten groups are left out one by
            one; more are distributed over ten folds by a hash of their name.
    """
    groups = sorted({by(row) for row in rows})
    few = len(groups) <= FOLDS
    fold = {group: at if few else _part(group) for at, group in enumerate(groups)}
    for wanted in sorted(set(fold.values())):
        left_out = [at for at, row in enumerate(rows) if fold[by(row)] == wanted]
        yield [at for at, row in enumerate(rows) if fold[by(row)] != wanted], left_out


def _part(group: str) -> int:
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % FOLDS
