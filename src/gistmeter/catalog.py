"""Tables of metrics and training tasks by name, and the parser of metric specs.

Each table has the form of entry points, `name: "module:object"`. Other installed packages add metrics through
the entry point group `gistmeter.metrics`.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, get_type_hints

from gistmeter.core.errors import MissingExtra, ModelError, UsageError
from gistmeter.core.example import Need
from gistmeter.core.language import Languages, languages_of
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
    "moverscore": "gistmeter.metrics.baselines.moverscore:build",
    "sms": "gistmeter.metrics.baselines.sms:build",
    "meteor": "gistmeter.metrics.baselines.meteor:build",
    "likelihood": "gistmeter.metrics.baselines.likelihood:build",
    "rouge": "gistmeter.metrics.baselines:Rouge",
    "bleu": "gistmeter.metrics.baselines:Bleu",
    "chrf": "gistmeter.metrics.baselines:Chrf",
    "sari": "gistmeter.metrics.baselines:Sari",
    "length_ratio": "gistmeter.metrics.baselines:LengthRatio",
    "novelty": "gistmeter.metrics.baselines:Novelty",
    "names": "gistmeter.metrics.baselines:Names",
    "denials": "gistmeter.metrics.baselines.denials:build",
    "extractive": "gistmeter.metrics.baselines:Extractive",
    "content": "gistmeter.metrics.baselines:Content",
    "centroid": "gistmeter.metrics.baselines.centroid:build",
    "surface": "gistmeter.metrics.baselines:Surface",
    "quality": "gistmeter.combined.quality:build",
    "check": "gistmeter.combined.check:build",
}
"""Each value is a function (preset, model, runtime, options), or a metric class that takes only `options`."""
COMBINED = ("quality", "check")
"""Metrics that score with other metrics of the table; `all` does not select them."""
TASKS = {
    "en": "gistmeter.training.recipes.spacy_pipeline:train_pipeline",
    "fill": "gistmeter.training.recipes.infiller:train_fill",
    "joint-fill": "gistmeter.training.recipes.joint:train_joint",
    "entail": "gistmeter.training.recipes.entailment.train:train_entailment",
    "similarities": "gistmeter.training.recipes.similarities:train_similarities",
    "frequencies": "gistmeter.metrics.simplicity.training.frequencies:train_frequencies",
    "maskeval-mlm": "gistmeter.metrics.maskeval.training.train:train_filler",
    "maskeval-weighers": "gistmeter.metrics.maskeval.training.train:train_weighers",
    "cloze": "gistmeter.metrics.cloze.training.train:train_cloze",
    "simplicity": "gistmeter.metrics.simplicity.training.train:train_simplicity",
    "sumqe": "gistmeter.metrics.sumqe.training.train:train_regressor",
    "sumqe-table1": "gistmeter.metrics.sumqe.training.table1:train_table1",
    "quality": "gistmeter.combined.training.quality:train_quality",
    "check": "gistmeter.combined.training.check:train_check",
    "average": "gistmeter.training.recipes.average:train_average",
}
"""Each value is a function (recipe, data, output, progress); tasks in `WITHOUT_LOOP` have other arguments."""
WITHOUT_LOOP = ("en", "frequencies", "quality", "check", "average")
"""Tasks that do not use the training loop; their recipes have another form."""
WITH_DIMENSION = ("maskeval", "sumqe", "quality")
"""Metrics with an option `dimension` for the quality to score."""
ALL = "all"
Options = Mapping[str, object]
Parsed = Mapping[str, tuple[str, dict[str, str]]]
"""The name and the options of each metric, by its spec."""
Figures = dict[str, float]


class Chosen(TypedDict, total=False):
    """The keywords of `build` that apply to all metrics."""

    preset: str
    model: str | None
    runtime: "Runtime | None"


def names() -> list[str]:
    """Return the names of all metrics, with those of other installed packages last."""
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
        preset: `mini`, `paper`, or another preset of the metric; ignored by metrics without a model.
        model: A model that replaces the preset's.
        runtime: The device, precision and backend.
        options: The options of the metric.

    Raises:
        UsageError: If a name, a preset or an option does not exist.
        ModelError: If a model cannot be found or loaded.
    """
    found = target(name)
    built: Metric
    if isinstance(found, type):
        built = found(options_from(get_type_hints(found)["options"], options or {}))
    else:
        from gistmeter.models.run.runtime import Runtime

        built = found(preset, model, runtime or Runtime(), options or {})
    return built


def target(name: str) -> Any:  # noqa: ANN401 - see METRICS
    """Return what the table names for a metric: a function that builds it, or its class.

    Raises:
        UsageError: If the metric does not exist.
    """
    _check_name(name)
    return _entries()[name].load()


def languages_by_preset(name: str) -> dict[str, Languages]:
    """Return the languages that each preset of a metric scores, with its default options.

    A metric without presets has one entry, with an empty name. No model is loaded.

    Raises:
        UsageError: If the metric does not exist.

    >>> languages_by_preset("chrf")
    {'': Languages(only=(), but=())}
    """
    found = target(name)
    if isinstance(found, type):
        return {"": found(options_from(get_type_hints(found)["options"], {})).languages}
    module = import_module(found.__module__)
    spoken: Mapping[str, str] = getattr(module, "LANGUAGES", {})
    presets: Iterable[str] = getattr(module, "PRESETS", ("",))
    return {preset: languages_of(spoken.get(preset, "en")) for preset in presets}


def parse_spec(text: str) -> tuple[str, dict[str, str]]:
    """Split a spec into a metric's name and its options.

    Raises:
        UsageError: If the metric does not exist, or an option has no value or is repeated.

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
        options: More options, as a mapping or as the metric's options dataclass; they take precedence over
            the spec's.
        **chosen: preset, model and runtime, as for `build`.

    Raises:
        UsageError: If a name, a preset or an option does not exist.
        ModelError: If a model cannot be found or loaded.
    """
    name, own = parse_spec(spec)
    return build(name, options={**own, **options_given(options)}, **chosen)


def load_all(
    specs: Iterable[str],
    *,
    dimension: str | None = None,
    absent: Collection[Need] = (),
    **chosen: Unpack[Chosen],
) -> dict[str, Metric]:
    """Build several metrics; return each under its spec.

    `all` selects all metrics, except those in `COMBINED`, those whose model or extra is not available, and
    those that need an absent field; a log message names the latter two.

    Args:
        specs: Names or specs.
        dimension: The quality to score, for the metrics in `WITH_DIMENSION`; a spec's own takes precedence.
        absent: The fields that the rows lack.
        **chosen: preset, model and runtime, as for `build`.

    Raises:
        UsageError: If a name, a preset or an option does not exist.
        ModelError: If a model that is requested by name cannot be found or loaded.
    """
    asked = list(specs)
    metrics = dict(load_each(asked, parse_all(asked, dimension=dimension), **chosen))
    return {label: metrics[label] for label in _usable(metrics, asked, absent)}


def parse_all(specs: Iterable[str], *, dimension: str | None = None) -> Parsed:
    """Return the name and the options of each metric that `load_all` builds, and build none.

    Raises:
        UsageError: If a name does not exist, or no metric takes the dimension.
    """
    asked = list(specs)
    # Parsed before any model is loaded, so that a misspelled name is reported at once.
    every = {name: parse_spec(name) for name in names() if ALL in asked and name not in COMBINED}
    parsed = every | {spec: parse_spec(spec) for spec in asked if spec != ALL}
    _ask_for(dimension, parsed)
    return parsed


def load_each(
    asked: Collection[str], parsed: Parsed, **chosen: Unpack[Chosen]
) -> Iterator[tuple[str, Metric]]:
    """Yield the metrics of `load_all` one by one, each when it is built.

    Args:
        asked: The specs as given; the model of a metric in it must be available.
        parsed: From `parse_all`.
        **chosen: As for `load_all`.

    Raises:
        ModelError: If a model that is requested by name cannot be found or loaded.
    """
    for label, (name, options) in parsed.items():
        try:
            metric = build(name, options=options, **chosen)
        except (ModelError, MissingExtra) as error:
            if label in asked:
                raise
            LOG.info("skipped: %s", error)
        else:
            yield label, metric


def _usable(metrics: Mapping[str, Metric], asked: Sequence[str], absent: Collection[Need]) -> list[str]:
    """Return the labels of the metrics without absent needs, and of those that are asked for by name."""
    usable: list[str] = []
    left_out: dict[str, list[str]] = {}
    for label, metric in metrics.items():
        lacks = " and ".join(need for need in metric.needs if need in absent)
        if lacks and label not in asked:
            left_out.setdefault(lacks, []).append(label)
        else:
            usable.append(label)
    for lacks, labels in left_out.items():
        LOG.info("gistmeter: left out %s: the rows have no %s", ", ".join(labels), lacks)
    return usable


def _ask_for(dimension: str | None, specs: Parsed) -> None:
    """Set the option `dimension` of the metrics that have it, unless their spec sets it."""
    if dimension is None:
        return
    able = [options for name, options in specs.values() if name in WITH_DIMENSION]
    if not able:
        raise UsageError(
            f"only {', '.join(WITH_DIMENSION[:-1])} and {WITH_DIMENSION[-1]} take a dimension; "
            "add one of them, or omit the dimension"
        )
    for options in able:
        options.setdefault("dimension", dimension)


def _entries() -> dict[str, EntryPoint]:
    """Return the entry point of each metric: gistmeter's own, then those of other packages by name."""
    own = {name: EntryPoint(name, target, GROUP) for name, target in METRICS.items()}
    others = {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in own}
    return own | dict(sorted(others.items()))


def _check_name(name: str) -> None:
    known = names()
    if name not in known:
        raise UsageError(f"no metric {name!r}{did_you_mean(name, known)}; there are: {', '.join(known)}")


def train(recipe: Path, data: Path | None, output: Path, *, steps: int | None, progress: bool) -> Figures:
    """Train a model by a recipe; resume an interrupted training with the same recipe and output folder.

    Args:
        recipe: A TOML file; see the folder `recipes`.
        data: The folder of the data files that the recipe names; by default, `data.folder` in the recipe.
        output: The folder for the checkpoint, the history and the model.
        steps: A number of steps that replaces the recipe's, for a trial run.
        progress: Whether to show progress on standard error.

    Returns:
        The evaluation results by name.

    Raises:
        UsageError: If the recipe is invalid, or the output folder belongs to another recipe.
        DataError: If the data is invalid.
        ModelError: If a model cannot be found or loaded.
    """
    from gistmeter.training.recipe import claim, read_recipe, read_toml

    content = read_toml(recipe)
    if content["task"] in WITHOUT_LOOP:
        return _train_without_loop(content, recipe, (data, output), steps, progress=progress)
    chosen = read_recipe(recipe).shortened(steps)
    if chosen.task not in TASKS:
        hint = did_you_mean(chosen.task, TASKS)
        raise UsageError(f"{recipe}: no task {chosen.task!r}{hint}; there are: {', '.join(TASKS)}")
    claim(output, chosen)
    folder = data or Path(str(chosen.data.get("folder", ".")))
    return _task(chosen.task)(chosen, folder, output, progress=progress)


def _train_without_loop(
    content: Options, recipe: Path, folders: tuple[Path | None, Path], steps: int | None, *, progress: bool
) -> Figures:
    data, output = folders
    if content["task"] == "en":
        if data is not None:
            raise UsageError(f"{recipe} lists its data files; change them there, and omit --data")
        return _task("en")(content, output, steps=steps, progress=progress)
    if steps is not None:
        raise UsageError(f"{recipe} has no training steps; omit --steps")
    return _task(str(content["task"]))(content, data or Path(), output)


def _task(name: str) -> Callable[..., Figures]:
    train: Callable[..., Figures] = EntryPoint(name, TASKS[name], "gistmeter.tasks").load()
    return train
