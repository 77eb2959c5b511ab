"""Train SUM-QE on human or synthetic labels (section 4.1), with cross-validation (section 5)."""

import json
import re
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
from gistmeter.metrics.sumqe.training.synthetic import read_clean, synthetic_rows
from gistmeter.metrics.sumqe.training.task import RateOptions, RateTask, read_rows_of
from gistmeter.metrics.sumqe.training.taught import taught
from gistmeter.models.files.adapters import restore_tuned, save_tuned
from gistmeter.models.files.find import find_model
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
"""Folder of the regressor inside the output folder."""
PREDICTIONS = "predictions.jsonl"
"""File of cross-validated predictions with human ratings."""
Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class RateData:
    """Section `data` of a recipe, without `folder`, `sets` and `made`.

    Args:
        preset: `clean` validates on documents selected by hash and keeps the best epoch. `official` follows
            the authors' code: it validates on the last rows of the data, and keeps the epoch at which
            training stops, the first without improvement.
        folds: `none` trains one regressor on all data. `sets` holds out each data set in turn, as the paper
            does with the years of DUC. A number holds out each of that many parts of the documents in turn,
            and `3 systems` each of three parts of the systems. With folds, only metrics and predictions are
            saved, not a regressor.
        parts: Number of parts; one of them is held out for validation.
        batch: Rows per step.
        pool: Number of batches that are sorted by length together.
    """

    preset: Literal["clean", "official"] = "clean"
    folds: str = "none"
    parts: int = PARTS
    batch: int = 8
    pool: int = 1

    def __post_init__(self) -> None:
        known = re.fullmatch(r"none|sets|0*([2-9]|[1-9]\d+)( systems)?", self.folds)
        if known is None:
            raise UsageError(
                f"data.folds={self.folds}: give none, sets, a number of at least 2, or one as in '3 systems'"
            )
        if self.parts < 2 or self.batch < 1 or self.pool < 1:
            raise UsageError("data: set parts to at least 2, batch and pool to at least 1")


@dataclass(frozen=True, slots=True)
class Training:
    """Settings for training a regressor.

    Args:
        recipe: Recipe whose `training` section is used.
        data: See `RateData`.
        plan: Architecture of the regressor.
        base: Name of the encoder.
        start: Regressor that provides the initial weights; empty for none.
        head_scale: Factor of the learning rate for the heads.
        made: Synthetic rows for training and for validation.
        progress: Whether to show progress.
        teacher: Regressor whose predictions also label the training rows; empty for none. `{fold}` in it
            stands for the name of the fold, so that no teacher has seen the held-out rows of its student.
    """

    recipe: Recipe
    data: RateData
    plan: RegressorPlan
    base: str
    start: str
    head_scale: float
    made: tuple[list[Rated], list[Rated]]
    progress: bool
    teacher: str = ""


def train_regressor(recipe: Recipe, data: Path, output: Path, *, progress: bool) -> Figures:
    """Train a regressor, or one regressor per fold.

    Args:
        recipe: Recipe such as `recipes/sumqe.toml`.
        data: Folder of the input files.
        output: Output folder; the regressor goes into its folder `model`.
        progress: Whether to show progress.

    Returns:
        Metrics of the best validation. With folds, the Pearson correlation with human ratings on held-out
        rows for each set and quality, over rows and over systems.

    Raises:
        UsageError: If the recipe is incomplete or invalid.
        DataError: If a file is missing or invalid.
        ModelError: If a model cannot be found or loaded.
    """
    check_keys(recipe.data, ("folder", "sets", "made", *RateData.__dataclass_fields__), recipe.name)
    known = ("base", "start", "head_scale", "teacher", *RegressorPlan.__dataclass_fields__)
    check_keys(recipe.model, [name for name in known if name != "qualities"], recipe.name)
    chosen = options_from(RateData, _without(recipe.data, ("folder", "sets", "made")))
    rated: list[Rated] = []
    for given in recipe.data.get("sets", ()):
        rated += read_set(data, given)
    training = _training(recipe, chosen, _made(recipe, data), progress=progress)
    if not rated and not training.made[0]:
        raise UsageError(f"{recipe.name}: add [[data.sets]], [data.made], or both")
    if chosen.folds != "none":
        return _train_folds(training, rated, output)
    return fit(training, rated, output)[1]


def fit(training: Training, rated: Sequence[Rated], output: Path) -> tuple[TextRegressor, Figures]:
    """Train one regressor and save it.

    Args:
        training: Training settings.
        rated: Texts with human ratings, for training and validation.
        output: Folder of checkpoints and the regressor; S-1 uses one subfolder per quality.
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
    # The backward pass of eager attention is several times faster on CPUs than that of fused attention.
    model, tokenizer, plan = new_regressor(
        training.base, plan, seed=settings.seed, attn_implementation="eager"
    )
    if training.start:
        restore_tuned(model, find_model(training.start))
    regressor = _text_regressor(model, tokenizer, plan, training)
    learned, held = _hold_out(labelled(rated, plan.qualities), data, settings.seed)
    learned += labelled(training.made[0], plan.qualities)
    if training.teacher:
        learned = taught(learned, _teacher(training))
    learned = [row for row in learned for _ in range(row.repeat)]
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
        # Folds are split by the same hash: with their seed, a fold's rest would have no part to hold out.
        return split(rated, data.parts, seed if data.folds == "none" else seed + 1)
    kept_rows = len(rated) - len(rated) // data.parts
    return list(rated[:kept_rows]), list(rated[kept_rows:])


def _train_folds(training: Training, rated: Sequence[Rated], output: Path) -> Figures:
    """Train one regressor per fold, and score the held-out rows with it."""
    folds: list[Fold] = folds_of(rated, training.data.folds, training.recipe.training.seed)
    lines = []
    for fold in folds:
        own = replace(training, teacher=training.teacher.replace("{fold}", fold.name))
        regressor, _ = fit(own, fold.rest, output / fold.name)
        examples = [Example(str(at), row.text) for at, row in enumerate(fold.held)]
        for row, score in zip(fold.held, SumQE(regressor).score(examples), strict=True):
            people = {name: to_scale(value) for name, value in row.labels.items()}
            facts = {"set": row.set, "doc_id": row.document, "system": row.system, "fold": fold.name}
            lines.append({**facts, "candidate": row.text, "people": people, "said": dict(score.parts)})
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_text(output / PREDICTIONS, text)
    return fold_figures(lines)


def _teacher(training: Training) -> TextRegressor:
    runtime = Runtime(dtype=training.recipe.training.precision, progress=training.progress)
    return TextRegressor.load(training.teacher, runtime)


def _training(
    recipe: Recipe, data: RateData, made: tuple[list[Rated], list[Rated]], *, progress: bool
) -> Training:
    model = recipe.model
    own = _without(model, ("base", "start", "head_scale", "teacher"))
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
        str(model.get("teacher", "")),
    )


def _made(recipe: Recipe, data: Path) -> tuple[list[Rated], list[Rated]]:
    """Create the synthetic rows of the recipe, for training and, from other texts, for validation."""
    given = recipe.data.get("made")
    if given is None:
        return [], []
    check_keys(given, ("rows", "validation", "sets"), f"{recipe.name}, data.made")
    seed = recipe.training.seed
    clean = read_clean(data, given["sets"], seed)
    held_out = {one.base.document for one in clean if part_by_seed(one.base.document, PARTS, seed) == 0}
    sides = (
        [one for one in clean if one.base.document not in held_out],
        [one for one in clean if one.base.document in held_out],
    )
    counts = int(given["rows"]), int(given.get("validation", 500))
    if min(map(len, sides)) < 2:
        raise UsageError(f"{recipe.name}: data.made has too few texts; add texts to data.made.sets")
    learned, held = (synthetic_rows(side, count, seed) for side, count in zip(sides, counts, strict=True))
    return learned, held


def _without(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in names}
