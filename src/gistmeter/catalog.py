"""From a name to a metric: an explicit match, then the entry points of other packages."""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeVar

from gistmeter.core.errors import UsageError
from gistmeter.core.metric import Metric
from gistmeter.core.options import options_from

if TYPE_CHECKING:
    from gistmeter.models.runtime import Runtime

GROUP = "gistmeter.metrics"
WITH_MODEL = ("maskeval", "cloze", "speed", "bertscore")
WITHOUT_MODEL = ("rouge", "bleu", "chrf", "sari", "length_ratio", "novelty", "extractive")
Options = Mapping[str, object]
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
    match name:
        case "maskeval":
            from gistmeter.metrics import maskeval

            return maskeval.build(*parts)
        case "cloze":
            from gistmeter.metrics import cloze

            return cloze.build(*parts)
        case "speed":
            from gistmeter.metrics import speed

            return speed.build(*parts)
        case "bertscore":
            from gistmeter.metrics.controls import bertscore

            return bertscore.build(*parts)
        case _:
            return _from_entry_point(name, *parts)


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
