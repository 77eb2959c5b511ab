"""The table of names: metrics, and the tasks that recipes train. Metric specs are parsed here.

Each table has the form of entry points, `name: "module:object"`. Metrics of other installed packages join
through the entry point group `gistmeter.metrics`.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack, get_type_hints

from gistmeter.core.errors import ModelError, UsageError
from gistmeter.core.metric import Metric
from gistmeter.core.nearest import did_you_mean
from gistmeter.core.options import options_from, options_given

if TYPE_CHECKING:
    from gistmeter.models.run.runtime import Runtime

LOG = logging.getLogger("gistmeter")
GROUP = "gistmeter.metrics"
METRICS = {
    "maskeval": "gistmeter.metrics.maskeval:build",
    "cloze": "gistmeter.metrics.cloze:build",
    "simplicity": "gistmeter.metrics.simplicity:build",
    "speed": "gistmeter.metrics.speed:build",
    "sumqe": "gistmeter.metrics.sumqe:build",
    "bertscore": "gistmeter.metrics.baselines.bertscore:build",
    "rouge": "gistmeter.metrics.baselines:Rouge",
    "bleu": "gistmeter.metrics.baselines:Bleu",
    "chrf": "gistmeter.metrics.baselines:Chrf",
    "sari": "gistmeter.metrics.baselines:Sari",
    "length_ratio": "gistmeter.metrics.baselines:LengthRatio",
    "novelty": "gistmeter.metrics.baselines:Novelty",
    "extractive": "gistmeter.metrics.baselines:Extractive",
}
"""A function (preset, model, runtime, options), or the class of a metric that takes `options` alone."""
TASKS = {
    "en": "gistmeter.training.recipes.spacy_pipeline:train_pipeline",
    "fill": "gistmeter.training.recipes.infiller:train_fill",
    "joint-fill": "gistmeter.training.recipes.joint:train_joint",
    "entail": "gistmeter.training.recipes.entailment.train:train_entailment",
    "frequencies": "gistmeter.metrics.simplicity.training.frequencies:train_frequencies",
    "maskeval-mlm": "gistmeter.metrics.maskeval.training.train:train_filler",
    "maskeval-weighers": "gistmeter.metrics.maskeval.training.train:train_weighers",
    "cloze": "gistmeter.metrics.cloze.training.train:train_cloze",
    "simplicity": "gistmeter.metrics.simplicity.training.train:train_simplicity",
    "sumqe": "gistmeter.metrics.sumqe.training.train:train_regressor",
}
"""A function (recipe, data, output, progress); the tasks in `WITHOUT_LOOP` have arguments of their own."""
WITHOUT_LOOP = ("en", "frequencies")
"""Tasks with another form of recipe."""
WITH_DIMENSION = ("maskeval", "sumqe")
"""Metrics with an option `dimension`, the quality to score."""
ALL = "all"
Options = Mapping[str, object]
Figures = dict[str, float]


class Chosen(TypedDict, total=False):
    """What `build` takes for every metric."""

    preset: str
    model: str | None
    runtime: "Runtime | None"


def names() -> list[str]:
    """Return the names of all metrics, those of other installed packages last."""
    return list(_entries())


def build(
    name: str,
    *,
    preset: str = "mini",
    model: str | None = None,
    runtime: "Runtime | None" = None,
    options: Options | None = None,
) -> Metric:
    """Build a metric by its name.

    Args:
        name: One of `names()`.
        preset: `mini`, `paper`, or one of the metric's own; metrics without a model have none.
        model: Another model instead of the preset's.
        runtime: Where and how to run.
        options: The metric's own options.

    Raises:
        UsageError: If a name, a preset or an option does not exist.
        ModelError: If a model cannot be found or loaded.
    """
    _check_name(name)
    found = _entries()[name].load()
    built: Metric
    if isinstance(found, type):
        built = found(options_from(get_type_hints(found)["options"], options or {}))
    else:
        from gistmeter.models.run.runtime import Runtime

        built = found(preset, model, runtime or Runtime(), options or {})
    return built


def parse_spec(text: str) -> tuple[str, dict[str, str]]:
    """Split a metric's name from its options.

    Raises:
        UsageError: If no metric has that name, or an option has no value or is given twice.

    >>> parse_spec("speed:against=source,match=optimal")
    ('speed', {'against': 'source', 'match': 'optimal'})
    """
    name, _, rest = text.partition(":")
    _check_name(name)
    pairs = [pair.partition("=") for pair in rest.split(",") if pair]
    if any(not equals for _, equals, _ in pairs):
        raise UsageError(f"{text!r}: write options as name:option=value,option=value")
    keys = [key for key, _, _ in pairs]
    repeated = next((key for key in keys if keys.count(key) > 1), None)
    if repeated is not None:
        raise UsageError(f"{text!r}: {repeated} is given twice; give each option once")
    return name, {key: value for key, _, value in pairs}


def load(spec: str, *, options: object = None, **chosen: Unpack[Chosen]) -> Metric:
    """Build a metric by its name or its spec.

    Args:
        spec: `speed`, or `speed:against=source,value=min`.
        options: More options, as a mapping or as the metric's options dataclass; they win over the spec's.
        **chosen: preset, model and runtime, as for `build`.

    Raises:
        UsageError: If a name, a preset or an option does not exist.
        ModelError: If a model cannot be found or loaded.
    """
    name, own = parse_spec(spec)
    return build(name, options={**own, **options_given(options)}, **chosen)


def load_all(
    specs: Iterable[str], *, dimension: str | None = None, **chosen: Unpack[Chosen]
) -> dict[str, Metric]:
    """Build several metrics; each is labelled with the spec that named it.

    `all` stands for every metric; those whose models are not available are left out with a note.

    Args:
        specs: Names or specs.
        dimension: The quality to score, for the metrics that know qualities; a spec's own wins.
        **chosen: preset, model and runtime, as for `build`.

    Raises:
        UsageError: If a name, a preset or an option does not exist.
        ModelError: If a model that was asked for by name cannot be found or loaded.
    """
    asked = list(specs)
    # Parsed before any model is loaded, so that a misspelled name is reported at once.
    every = {name: parse_spec(name) for name in names() if ALL in asked}
    parsed = every | {spec: parse_spec(spec) for spec in asked if spec != ALL}
    _ask_for(dimension, parsed)
    metrics: dict[str, Metric] = {}
    for label, (name, options) in parsed.items():
        try:
            metrics[label] = build(name, options=options, **chosen)
        except ModelError as error:
            if label in asked:
                raise
            LOG.info("left out: %s", error)
    return metrics


def _ask_for(dimension: str | None, specs: Mapping[str, tuple[str, dict[str, str]]]) -> None:
    """Pass a dimension on to the metrics that have one, unless their own options say it."""
    if dimension is None:
        return
    able = [options for name, options in specs.values() if name in WITH_DIMENSION]
    if not able:
        raise UsageError(f"a dimension is for {', '.join(WITH_DIMENSION)}; add one of them")
    for options in able:
        options.setdefault("dimension", dimension)


def _entries() -> dict[str, EntryPoint]:
    """Return where each metric is found: gistmeter's own first, then those of other packages by name."""
    own = {name: EntryPoint(name, target, GROUP) for name, target in METRICS.items()}
    others = {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in own}
    return own | dict(sorted(others.items()))


def _check_name(name: str) -> None:
    known = names()
    if name not in known:
        raise UsageError(f"no metric {name!r}{did_you_mean(name, known)}; there are: {', '.join(known)}")


def train(recipe: Path, data: Path | None, output: Path, *, steps: int | None, progress: bool) -> Figures:
    """Train what a recipe says; go on where an earlier call with the same recipe and folder stopped.

    Args:
        recipe: A TOML file; see the folder `recipes`.
        data: Where the files are that it names; by default, the `folder` of its `data`.
        output: Where everything goes: checkpoint, history and the model.
        steps: Another number of steps than the recipe's, for a trial.
        progress: Whether to show progress on standard error.

    Returns:
        What was measured.

    Raises:
        UsageError: If the recipe is invalid, or the folder has a run of another recipe.
        DataError: If the data is not as it should be.
        ModelError: If a model cannot be found or loaded.
    """
    from gistmeter.training.recipe import claim, read_recipe, read_toml

    content = read_toml(recipe)
    if content["task"] in WITHOUT_LOOP:
        return _train_without_loop(content, recipe, data, output, steps)
    chosen = read_recipe(recipe).shortened(steps)
    if chosen.task not in TASKS:
        hint = did_you_mean(chosen.task, TASKS)
        raise UsageError(f"{recipe}: no task {chosen.task!r}{hint}; there are: {', '.join(TASKS)}")
    claim(output, chosen)
    folder = data or Path(str(chosen.data.get("folder", ".")))
    return _task(chosen.task)(chosen, folder, output, progress=progress)


def _train_without_loop(
    content: Options, recipe: Path, data: Path | None, output: Path, steps: int | None
) -> Figures:
    if content["task"] == "en":
        if data is not None:
            raise UsageError(f"{recipe} names its files itself; change them there, and leave --data out")
        return _task("en")(content, output, steps=steps)
    if steps is not None:
        raise UsageError(f"{recipe} counts words, which takes no steps; leave --steps out")
    return _task("frequencies")(content, data or Path(), output)


def _task(name: str) -> Callable[..., Figures]:
    train: Callable[..., Figures] = EntryPoint(name, TASKS[name], "gistmeter.tasks").load()
    return train
