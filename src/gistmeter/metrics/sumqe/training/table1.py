"""Measure SUM-QE's tables 1 and 2: all regressors and baselines, with each year of DUC held out in turn."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from gistmeter.core.errors import UsageError
from gistmeter.metrics.sumqe.qualities import QUALITIES, to_scale
from gistmeter.metrics.sumqe.training.duc import read_duc
from gistmeter.metrics.sumqe.training.rows import Rated, read_set
from gistmeter.metrics.sumqe.training.table1_baselines import (
    best_rouge,
    language_models,
    next_sentences,
    perplexities,
)
from gistmeter.metrics.sumqe.training.table1_tables import Columns, cells_of, markdown, mean_ratings
from gistmeter.metrics.sumqe.training.train import PREDICTIONS, Figures, train_regressor
from gistmeter.models.rate.language_model import NextSentenceModel
from gistmeter.models.run.runtime import Runtime
from gistmeter.training.files import write_text
from gistmeter.training.recipe import Recipe, check_keys

MODEL_KEYS = ("base", "layers", "window", "flavours", "bigru", "gpt2", "masked", "next")
BIGRU_KEYS = ("layers", "hidden", "learning_rate")
TABLES = "table1.md"
ROWS = "rows"
LABELS = {"s1": "S-1", "m1": "M-1", "m5": "M-5"}


def train_table1(recipe: Recipe, data: Path, output: Path, *, progress: bool) -> Figures:
    """Train each regressor in three folds, run the baselines, and write `table1.md` and `table1.json`.

    The folder `rows` gets a file of rows for each year, with which `gistmeter reproduce linguistic` draws
    figure 3.

    Args:
        recipe: `recipes/sumqe-table1.toml`.
        data: Folder of the years of DUC.
        output: Output folder, with one folder per regressor.
        progress: Whether to show progress.

    Returns:
        Pearson's r over systems for each year, quality and method.

    Raises:
        UsageError: If the recipe is invalid.
        DataError: If a file is missing or invalid.
        ModelError: If a model cannot be found or loaded.
    """
    check_keys(recipe.model, MODEL_KEYS, recipe.name)
    check_keys(recipe.model.get("bigru", {}), BIGRU_KEYS, f"{recipe.name}, model.bigru")
    sets = list(recipe.data.get("sets", ()))
    if len(sets) < 2 or not all(given.get("duc") for given in sets):
        raise UsageError(f"{recipe.name}: give two or more data.sets with duc, one for each year")
    regressors = list(_regressors(recipe))
    rated = [row for given in sets for row in read_set(data, given)]
    references = [one.references for given in sets for one in read_duc(data / given["duc"])]
    _save_rows(rated, references, output / ROWS)
    columns, chosen = _baselines(recipe, rated, references, progress=progress)
    for label, own in regressors:
        train_regressor(own, data, output / label, progress=progress)
        columns[label] = _said(output / label / PREDICTIONS, rated)
    return _write(rated, columns, chosen, output)


def _save_rows(rated: Sequence[Rated], references: Sequence[Sequence[str]], folder: Path) -> None:
    """Write one file of rows for each year, with the ratings as Q1 to Q5."""
    folder.mkdir(parents=True, exist_ok=True)
    lines: dict[str, list[str]] = {}
    for row, texts in zip(rated, references, strict=True):
        scores = {
            f"Q{at}": to_scale(row.labels[name]) for at, name in enumerate(QUALITIES, 1) if name in row.labels
        }
        facts = {"doc_id": row.document, "system": row.system, "scores": scores, "references": list(texts)}
        own = {"id": f"{row.document}-{row.system}", "candidate": row.text, **facts}
        lines.setdefault(row.set, []).append(json.dumps(own, ensure_ascii=False))
    for year, own_lines in lines.items():
        write_text(folder / f"{year}.jsonl", "\n".join(own_lines) + "\n")


def _baselines(
    recipe: Recipe, rated: Sequence[Rated], references: Sequence[Sequence[str]], *, progress: bool
) -> tuple[Columns, dict[str, dict[str, object]]]:
    columns, chosen, runtime = Columns(), dict[str, dict[str, object]](), Runtime(progress=progress)
    if any(references):
        for label, own_year in (("BEST-ROUGE", True), ("ROUGE chosen on the other years", False)):
            columns[label], chosen[label] = best_rouge(rated, references, own_year=own_year)
    names = {name: str(recipe.model.get(name, "")) for name in ("gpt2", "masked", "next")}
    for label, load in language_models(names, runtime).items():
        columns[label], chosen[label] = perplexities(rated, load())
    if names["next"]:
        columns["BERT-FR-NS"] = next_sentences(rated, NextSentenceModel.load(names["next"], runtime))
    return columns, chosen


def _regressors(recipe: Recipe) -> Iterator[tuple[str, Recipe]]:
    """Yield the paper's name and the recipe of each regressor."""
    flavours = recipe.model.get("flavours", list(LABELS))
    if not isinstance(flavours, list) or not set(flavours) <= set(LABELS):
        raise UsageError(f"{recipe.name}: model.flavours must be a list of {', '.join(LABELS)}")
    data = {**recipe.data, "folds": "sets"}
    shared = {name: recipe.model[name] for name in ("base", "window") if name in recipe.model}
    bigru = recipe.model.get("bigru", {})
    for flavour in flavours if bigru else ():
        own: dict[str, Any] = {name: value for name, value in bigru.items() if name != "learning_rate"}
        rate = float(bigru.get("learning_rate", recipe.training.learning_rate))
        model = {**shared, "encoder": "bigru", "flavour": flavour, "layers": 1, **own}
        settings = replace(recipe.training, learning_rate=rate)
        yield f"BiGRU-ATT-{LABELS[flavour]}", replace(recipe, data=data, model=model, training=settings)
    for flavour in flavours:
        model = {**shared, "flavour": flavour, "layers": recipe.model.get("layers", 0)}
        yield f"BERT-FT-{LABELS[flavour]}", replace(recipe, data=data, model=model)


def _said(path: Path, rated: Sequence[Rated]) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return the predictions of the folds in the order of the rows."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    said = {(line["set"], line["doc_id"], line["system"]): line["said"] for line in lines}
    found = [said[row.set, row.document, row.system] for row in rated]
    return {
        quality: np.array([one.get(quality, math.nan) for one in found], dtype=float) for quality in QUALITIES
    }


def _write(
    rated: Sequence[Rated], columns: Columns, chosen: dict[str, dict[str, object]], output: Path
) -> Figures:
    cells, ratings = cells_of(rated, columns), mean_ratings(rated)
    known = [{name: _known(value) for name, value in asdict(one).items()} for one in cells]
    made = {"table1": known, "table2": ratings, "chosen": chosen}
    write_text(output / "table1.json", json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    settings = "".join(
        f"\n* {label}: {', '.join(f'{year} {value}' for year, value in own.items())}"
        for label, own in chosen.items()
    )
    notes = f"\nParameters (the version of ROUGE, the number k of tokens):\n{settings}\n" if settings else ""
    write_text(output / TABLES, markdown(cells, ratings) + notes)
    return {f"{one.year}_{one.quality}_{one.method}": one.pearson for one in cells}


def _known(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value
