"""Build ClozE from a preset or a model name."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from gistmeter.core.options import Preset, options_from, preset_from
from gistmeter.metrics.cloze.metric import Cloze
from gistmeter.metrics.cloze.options import ClozeOptions
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.factors import load_pipeline

OURS = {"criterion": "geometric", "aggregate": "sentences", "copied": True}
PRESETS = {
    # Selected on the development rows of FRANK and SummEval, and on examples/careful.jsonl.
    "mini": Preset("gistmeter/fill", {"pipeline": "en", "passage": 510, **OURS}),  # what its window holds
    "base": Preset("gistmeter/fill-base", {"pipeline": "en", "passage": 224, **OURS}),
    "paper": Preset("KenLee/ClozE-roberta-base-cnndm", {"pipeline": "en_core_web_sm", "window": 512}),
}
RETRIEVER = "minilm"
"""Sentence encoder that selects the passages of `passage=N`."""


@dataclass(frozen=True, slots=True)
class BuildOptions(ClozeOptions):
    """Options of ClozE, and the pipeline that finds the factors.

    Args:
        pipeline: `en`, which ships with gistmeter, the name of an installed spaCy pipeline, or the folder of
            a pipeline.
    """

    pipeline: str = "en"


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Cloze:
    """Build ClozE.

    Args:
        preset: `mini` (the filler that ships, with geometric means of probabilities), `base` (a filler on
            MPNet-base; both read the most similar sentences of a long document, and trust copied sentences),
            or `paper` (the authors' RoBERTa from the Hub with the default options of their code, except the
            pipeline: the smaller `en_core_web_sm` of table 6 instead of `en_core_web_trf`).
        model: Filler that replaces the preset's: a folder or an ID on the Hub.
        runtime: Device, data type, and batch size.
        options: See `ClozeOptions` and `BuildOptions`.

    Raises:
        ModelNotFound: If the filler or the pipeline cannot be found.
    """
    own = preset_from("cloze", PRESETS, preset)
    given = options_from(BuildOptions, {**own.options, **options})
    chosen = ClozeOptions(**{field.name: getattr(given, field.name) for field in fields(ClozeOptions)})
    pipeline = load_pipeline(given.pipeline, selection=chosen.selection)
    from gistmeter.models.fill.load import load_filler

    retriever = None
    if chosen.passage:
        from gistmeter.models.encode.encoder import Encoder

        retriever = Encoder.load(RETRIEVER, runtime)
    return Cloze(load_filler(model or own.model, runtime), pipeline, chosen, retriever)
