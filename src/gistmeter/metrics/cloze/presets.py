"""ClozE from names: which model and which pipeline each preset takes."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from gistmeter.core.errors import ModelNotFound
from gistmeter.core.options import options_from, preset_from
from gistmeter.metrics.cloze.metric import Cloze
from gistmeter.metrics.cloze.options import ClozeOptions
from gistmeter.models.runtime import Runtime
from gistmeter.text.factors import load_pipeline

PRESETS: dict[str, str | None] = {"mini": None, "paper": "KenLee/ClozE-roberta-base-cnndm"}
PIPELINES = {"mini": "en", "paper": "en_core_web_sm"}


@dataclass(frozen=True, slots=True)
class BuildOptions(ClozeOptions):
    """The options of ClozE, and what finds its factors.

    Args:
        pipeline: `en`, which ships with gistmeter, the name of an installed spaCy pipeline, or a folder
            that holds one; None takes the preset's.
    """

    pipeline: str | None = None


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Cloze:
    """Build ClozE.

    Args:
        preset: `paper` (the authors' RoBERTa from the Hub); `mini` has no model of its own yet.
        model: A filler in place of the preset's: a folder or an id on the Hub.
        runtime: Where and how to run.
        options: See `ClozeOptions`; `pipeline` besides.

    Raises:
        ModelNotFound: If the filler or the pipeline is not to be had.
    """
    given = options_from(BuildOptions, options)
    chosen = ClozeOptions(**{field.name: getattr(given, field.name) for field in fields(ClozeOptions)})
    own = preset_from("cloze", PRESETS, preset)
    name = model or own
    if name is None:
        raise ModelNotFound(
            "cloze: the model that ships with gistmeter comes with a later release; "
            "use --preset paper, or give one with --model FOLDER_OR_ID"
        )
    pipeline = load_pipeline(given.pipeline or PIPELINES[preset], selection=chosen.selection)
    from gistmeter.models.filler_load import load_filler

    return Cloze(load_filler(name, runtime), pipeline, chosen)
