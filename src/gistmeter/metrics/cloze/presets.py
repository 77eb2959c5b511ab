"""ClozE from names: which model and which pipeline each preset takes."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from gistmeter.core.options import Preset, options_from, preset_from
from gistmeter.metrics.cloze.metric import Cloze
from gistmeter.metrics.cloze.options import ClozeOptions
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.factors import load_pipeline

PRESETS = {
    "mini": Preset("gistmeter/fill", {"pipeline": "en", "criterion": "soft"}),
    "base": Preset("gistmeter/fill-base", {"pipeline": "en", "criterion": "soft"}),
    "paper": Preset("KenLee/ClozE-roberta-base-cnndm", {"pipeline": "en_core_web_sm"}),
}


@dataclass(frozen=True, slots=True)
class BuildOptions(ClozeOptions):
    """The options of ClozE, and what finds its factors.

    Args:
        pipeline: `en`, which ships with gistmeter, the name of an installed spaCy pipeline, or a folder
            that holds one.
    """

    pipeline: str = "en"


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Cloze:
    """Build ClozE.

    Args:
        preset: `mini` (what ships; an answer is worth the factor's probability), `base` (MPNet with the
            adapter that ships), or `paper` (the authors' RoBERTa from the Hub).
        model: A filler in place of the preset's: a folder or an id on the Hub.
        runtime: Where and how to run.
        options: See `ClozeOptions`; `pipeline` besides.

    Raises:
        ModelNotFound: If the filler or the pipeline is not to be had.
    """
    own = preset_from("cloze", PRESETS, preset)
    given = options_from(BuildOptions, {**own.options, **options})
    chosen = ClozeOptions(**{field.name: getattr(given, field.name) for field in fields(ClozeOptions)})
    pipeline = load_pipeline(given.pipeline, selection=chosen.selection)
    from gistmeter.models.fill.load import load_filler

    return Cloze(load_filler(model or own.model, runtime), pipeline, chosen)
