"""From a name to a metric (an explicit match, then entry points of others), from a task to its training."""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gistmeter.core.errors import UsageError
from gistmeter.core.metric import Metric
from gistmeter.core.options import options_from

if TYPE_CHECKING:
    from gistmeter.models.runtime import Runtime

GROUP = "gistmeter.metrics"
WITH_MODEL = ("maskeval", "cloze", "simplicity", "speed", "sumqe", "bertscore")
WITHOUT_MODEL = ("rouge", "bleu", "chrf", "sari", "length_ratio", "novelty", "extractive")
WITH_DIMENSION = ("maskeval", "sumqe")
"""Those that can be asked for one quality."""
TASKS = (
    "en",
    "fill",
    "joint-fill",
    "entail",
    "frequencies",
    "maskeval-mlm",
    "maskeval-weighers",
    "cloze",
    "simplicity",
    "sumqe",
)
"""What can be trained."""
WITHOUT_LOOP = ("en", "frequencies")
"""Those of them that have a recipe of their own kind."""
Options = Mapping[str, object]
Figures = dict[str, float]
T = TypeVar("T")


def names() -> list[str]:
    """Return the names of all metrics, those of other installed packages last."""
    own = [*WITH_MODEL, *WITHOUT_MODEL]
    return [*own, *sorted({entry.name for entry in entry_points(group=GROUP)} - set(own))]


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
    if name in WITHOUT_MODEL:
        return _without_model(name, options or {})
    from gistmeter.models.runtime import Runtime

    parts = (preset, model, runtime or Runtime(), options or {})
    built: Metric
    match name:
        case "maskeval":
            from gistmeter.metrics import maskeval

            built = maskeval.build(*parts)
        case "cloze":
            from gistmeter.metrics import cloze

            built = cloze.build(*parts)
        case "simplicity":
            from gistmeter.metrics import simplicity

            built = simplicity.build(*parts)
        case "speed":
            from gistmeter.metrics import speed

            built = speed.build(*parts)
        case "sumqe":
            from gistmeter.metrics import sumqe

            built = sumqe.build(*parts)
        case "bertscore":
            from gistmeter.metrics.controls import bertscore

            built = bertscore.build(*parts)
        case _:
            built = _from_entry_point(name, *parts)
    return built


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
        UsageError: If the recipe is not as it should be, or the folder holds a training of another one.
        DataError: If the data is not as it should be.
        ModelError: If a model cannot be found or loaded.
    """
    from gistmeter.training.recipe import claim, read_recipe, read_toml

    content = read_toml(recipe)
    if content["task"] in WITHOUT_LOOP:
        return _train_without_loop(content, recipe, data, output, steps)
    chosen = read_recipe(recipe).shortened(steps)
    if chosen.task not in TASKS:
        raise UsageError(f"{recipe}: no task {chosen.task!r}; there are: {', '.join(TASKS)}")
    claim(output, chosen)
    parts = (chosen, data or Path(str(chosen.data.get("folder", "."))), output)
    train_task: Callable[..., Figures]
    match chosen.task:
        case "fill":
            from gistmeter.training.fill import train_fill

            train_task = train_fill
        case "joint-fill":
            from gistmeter.training.joint import train_joint

            train_task = train_joint
        case "entail":
            from gistmeter.training.entail import train_entailment

            train_task = train_entailment
        case "maskeval-mlm":
            from gistmeter.metrics.maskeval.train import train_filler

            train_task = train_filler
        case "maskeval-weighers":
            from gistmeter.metrics.maskeval.train import train_weighers

            train_task = train_weighers
        case "simplicity":
            from gistmeter.metrics.simplicity.train import train_simplicity

            train_task = train_simplicity
        case "sumqe":
            from gistmeter.metrics.sumqe.train import train_rater

            train_task = train_rater
        case _:
            from gistmeter.metrics.cloze.train import train_cloze

            train_task = train_cloze
    return train_task(*parts, progress=progress)


def _train_without_loop(
    content: Options, recipe: Path, data: Path | None, output: Path, steps: int | None
) -> Figures:
    if content["task"] == "en":
        from gistmeter.training.pipeline import train_pipeline

        if data is not None:
            raise UsageError(f"{recipe} names its files itself; change them there, and leave --data out")
        return train_pipeline(content, output, steps=steps)
    from gistmeter.metrics.simplicity.train_frequencies import train_frequencies

    if steps is not None:
        raise UsageError(f"{recipe} counts words, which takes no steps; leave --steps out")
    return train_frequencies(content, data or Path(), output)


def _without_model(name: str, options: Options) -> Metric:
    from gistmeter.metrics import controls as c

    def made(metric: Callable[[T], Metric], kind: type[T]) -> Metric:
        return metric(options_from(kind, options))

    match name:
        case "rouge":
            built = made(c.Rouge, c.RougeOptions)
        case "bleu":
            built = made(c.Bleu, c.BleuOptions)
        case "chrf":
            built = made(c.Chrf, c.ChrfOptions)
        case "sari":
            built = made(c.Sari, c.SariOptions)
        case "length_ratio":
            built = made(c.LengthRatio, c.LengthRatioOptions)
        case "novelty":
            built = made(c.Novelty, c.NoveltyOptions)
        case _:
            built = made(c.Extractive, c.ExtractiveOptions)
    return built


def _from_entry_point(
    name: str, preset: str, model: str | None, runtime: "Runtime", options: Options
) -> Metric:
    """Build a metric of another package: its entry point is a function with these four arguments."""
    for entry in entry_points(group=GROUP, name=name):
        metric: Metric = entry.load()(preset, model, runtime, options)
        return metric
    raise UsageError(f"no metric {name!r}; there are: {', '.join(names())}")
