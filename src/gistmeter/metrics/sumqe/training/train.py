"""SUM-QE's training (section 4.1), on human labels, synthetic ones, or both, and its folds (section 5)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.core.options import options_from
from gistmeter.metrics.sumqe.metric import SumQE
from gistmeter.metrics.sumqe.qualities import QUALITIES, to_scale
from gistmeter.metrics.sumqe.training.folds import Fold, fold_figures, folds_of
from gistmeter.metrics.sumqe.training.rows import Rated, labelled, part_by_seed, read_set, split
from gistmeter.metrics.sumqe.training.synthetic import Clean, read_clean, synthetic_rows
from gistmeter.metrics.sumqe.training.task import RateOptions, RateTask, read_rows_of
from gistmeter.models.files.adapters import restore_tuned, save_tuned
from gistmeter.models.files.load import find_model
from gistmeter.models.rate.files import QUALITY_REGRESSOR, RegressorPlan, facts_of, joined, new_regressor
from gistmeter.models.rate.regressor import QualityRegressor
from gistmeter.models.rate.text_regressor import TextRegressor
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.types import Tokenizer
from gistmeter.training.files import write_text
from gistmeter.training.loop import kept, train
from gistmeter.training.recipe import Recipe, check_keys
from gistmeter.training.texts import PARTS

MODEL = "model"
"""Folder inside a training's own in which the regressor lies."""
PREDICTIONS = "predictions.jsonl"
"""What the regressors of all folds say of the rows that they did not see, beside what people said."""
Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class RateData:
    """The `data` part of a recipe, `folder`, `sets` and `made` aside.

    Args:
        preset: `clean` validates on documents chosen by hash and keeps the best epoch. `official` does as
            the authors' code does: it validates on the last rows as they stand, and keeps the epoch after
            the best, where training stops.
        folds: `none` trains one regressor on everything. `sets` holds each data set out in turn, as the paper
            does with the years of DUC; a number holds out so many parts of the documents in turn. Then there
            are only figures and predictions, no regressor.
        parts: One part in so many is held out for validation.
        batch: Rows of a step.
        pool: Batches that are sorted by length together.
    """

    preset: Literal["clean", "official"] = "clean"
    folds: str = "none"
    parts: int = PARTS
    batch: int = 8
    pool: int = 1

    def __post_init__(self) -> None:
        if self.folds not in ("none", "sets") and not (self.folds.isdigit() and int(self.folds) > 1):
            raise UsageError(f"data.folds={self.folds}: give none, sets, or a number of at least 2")
        if self.parts < 2 or self.batch < 1 or self.pool < 1:
            raise UsageError("data: parts must be at least 2, batch and pool at least 1")


@dataclass(frozen=True, slots=True)
class Training:
    """All that a training of a regressor needs but its rows.

    Args:
        recipe: Its `training` part is used.
        data: See `RateData`.
        plan: How the regressor is built.
        base: The encoder's name.
        start: A regressor whose weights it begins with, or nothing.
        head_scale: How much faster the heads learn.
        made: Synthetic rows to learn from, and to validate with.
        progress: Whether to show progress.
    """

    recipe: Recipe
    data: RateData
    plan: RegressorPlan
    base: str
    start: str
    head_scale: float
    made: tuple[list[Rated], list[Rated]]
    progress: bool


def train_regressor(recipe: Recipe, data: Path, output: Path, *, progress: bool) -> Figures:
    """Train a regressor, or one for each fold.

    Args:
        recipe: As `recipes/sumqe.toml`.
        data: Folder of the files.
        output: Folder of the training; the regressor goes into `model` there.
        progress: Whether to show progress.

    Returns:
        The figures of the validation at which the weights were kept; or, of folds, Pearson's r with people
        on what was held out, by set and quality, over rows and over systems.

    Raises:
        UsageError: If the recipe is not as it should be.
        DataError: If its files are not.
        ModelError: If a model cannot be found or loaded.
    """
    check_keys(recipe.data, ("folder", "sets", "made", *RateData.__dataclass_fields__), recipe.name)
    known = ("base", "start", "head_scale", *RegressorPlan.__dataclass_fields__)
    check_keys(recipe.model, [name for name in known if name != "qualities"], recipe.name)
    chosen = options_from(RateData, _without(recipe.data, ("folder", "sets", "made")))
    rated: list[Rated] = []
    for given in recipe.data.get("sets", ()):
        rated += read_set(data, given)
    training = _training(recipe, chosen, _made(recipe, data), progress=progress)
    if not rated and not training.made[0]:
        raise UsageError(f"{recipe.name}: the recipe needs [[data.sets]], [data.made], or both")
    if chosen.folds != "none":
        return _train_folds(training, rated, output)
    return fit(training, rated, output)[1]


def fit(training: Training, rated: Sequence[Rated], output: Path) -> tuple[TextRegressor, Figures]:
    """Train one regressor and save it.

    Args:
        training: How.
        rated: What people say, to learn from and to validate with.
        output: Of checkpoints and the regressor; an S-1 trains each of its five in a folder of its own.
    """
    plan = training.plan
    if plan.flavour != "s1":
        regressor, figures = _fit_one(training, plan, rated, output)
    else:
        found = []
        figures = {}
        for quality in plan.qualities:
            single = replace(plan, qualities=(quality,), flavour="m5")
            one, own = _fit_one(training, single, rated, output / quality)
            found.append(one)
            figures |= {f"{quality}_{name}": value for name, value in own.items()}
        last = found[-1]
        regressor = TextRegressor(
            joined([one.regressor for one in found]),
            last.vocabulary.tokenizer,
            qualities=plan.qualities,
            window=last.window,
            identity="new",
            runtime=last.runtime,
        )
    facts = facts_of(replace(plan, window=regressor.window))
    save_tuned(regressor.regressor, training.base, output / MODEL, kind=QUALITY_REGRESSOR, facts=facts)
    return regressor, figures


def _fit_one(
    training: Training, plan: RegressorPlan, rated: Sequence[Rated], output: Path
) -> tuple[TextRegressor, Figures]:
    settings, data = training.recipe.training, training.data
    # Plain attention: its backward pass is several times as fast on processors as the fused one.
    model, tokenizer, plan = new_regressor(
        training.base, plan, seed=settings.seed, attn_implementation="eager"
    )
    if training.start:
        restore_tuned(model, find_model(training.start))
    regressor = _text_regressor(model, tokenizer, plan, training)
    learned, held = _hold_out(labelled(rated, plan.qualities), data, settings.seed)
    learned = [row for row in learned for _ in range(row.repeat)]
    learned += labelled(training.made[0], plan.qualities)
    held += labelled(training.made[1], plan.qualities)
    options = RateOptions(
        "joint" if plan.flavour == "m1" else "sum", data.batch, data.pool, training.head_scale, settings.seed
    )
    rows = (read_rows_of(learned, regressor), read_rows_of(held, regressor))
    task = RateTask(regressor, *rows, options, output)
    counted = training.recipe.counted(task.steps)
    if data.preset == "official":
        counted = replace(counted, select="stop")
    history = train(task, counted, output, progress=training.progress)
    return regressor, kept(history["validations"], counted.select)


def _text_regressor(
    model: QualityRegressor,
    tokenizer: Tokenizer,
    plan: RegressorPlan,
    training: Training,
) -> TextRegressor:
    runtime = Runtime(backend="torch", progress=training.progress)
    return TextRegressor(
        model, tokenizer, qualities=plan.qualities, window=plan.window, identity="new", runtime=runtime
    )


def _hold_out(rated: Sequence[Rated], data: RateData, seed: int) -> tuple[list[Rated], list[Rated]]:
    if data.preset == "clean":
        return split(rated, data.parts, seed)
    kept_rows = len(rated) - len(rated) // data.parts
    return list(rated[:kept_rows]), list(rated[kept_rows:])


def _train_folds(training: Training, rated: Sequence[Rated], output: Path) -> Figures:
    """Train without each fold in turn, and score it with what came out."""
    folds: list[Fold] = folds_of(rated, training.data.folds, training.recipe.training.seed)
    lines = []
    for fold in folds:
        regressor, _ = fit(training, fold.rest, output / fold.name)
        examples = [Example(str(at), row.text) for at, row in enumerate(fold.held)]
        for row, score in zip(fold.held, SumQE(regressor).score(examples), strict=True):
            people = {name: to_scale(value) for name, value in row.labels.items()}
            facts = {"set": row.set, "doc_id": row.document, "system": row.system, "fold": fold.name}
            lines.append({**facts, "candidate": row.text, "people": people, "said": dict(score.parts)})
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_text(output / PREDICTIONS, text)
    return fold_figures(lines)


def _training(
    recipe: Recipe, data: RateData, made: tuple[list[Rated], list[Rated]], *, progress: bool
) -> Training:
    model = recipe.model
    own = _without(model, ("base", "start", "head_scale"))
    plan = replace(options_from(RegressorPlan, {"qualities": "", **own}), qualities=QUALITIES)
    return Training(
        recipe,
        data,
        plan,
        str(model.get("base", "minilm")),
        str(model.get("start", "")),
        float(model.get("head_scale", 1.0)),
        made,
        progress,
    )


def _made(recipe: Recipe, data: Path) -> tuple[list[Rated], list[Rated]]:
    """Make the rows that the recipe asks for: to learn from, and of other texts to validate with."""
    given = recipe.data.get("made")
    if given is None:
        return [], []
    check_keys(given, ("rows", "validation", "sets"), f"{recipe.name}, data.made")
    seed = recipe.training.seed
    clean = read_clean(data, given["sets"], seed)
    sides: tuple[list[Clean], list[Clean]] = ([], [])
    for one in clean:
        sides[part_by_seed(one.base.document, PARTS, seed) == 0].append(one)
    counts = int(given["rows"]), int(given.get("validation", 500))
    if min(map(len, sides)) < 2:
        raise UsageError(f"{recipe.name}: data.made has too few texts to break")
    learned, held = (synthetic_rows(side, count, seed) for side, count in zip(sides, counts, strict=True))
    return learned, held


def _without(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in names}
