"""Build SPEED from a preset or model names."""

from collections.abc import Mapping

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.core.options import preset_from, spoken_options
from gistmeter.metrics.speed.entailment import Entailment
from gistmeter.metrics.speed.metric import Speed
from gistmeter.metrics.speed.options import SpeedOptions
from gistmeter.metrics.speed.rescale import BY_LANGUAGE
from gistmeter.metrics.speed.similarity import Cosine, Cross, SentenceModel
from gistmeter.models.encode.cross_encoder import PairScorer
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files import multilingual
from gistmeter.models.files.find import find_model, is_cross_encoder
from gistmeter.models.run.runtime import Runtime

# Models without a pinned revision load the newest one, which the signature records.
# One model per sentence-pair task: similarity, inference, passage ranking, paraphrase (section 4.4, table 6).
BEST4 = (
    "cross-encoder/stsb-roberta-large@2b12c2c0088918e76151fd5937b7bba986ef1f98",
    "sentence-transformers/nli-roberta-large",
    "cross-encoder/ms-marco-TinyBERT-L-2",
    "sentence-transformers/paraphrase-distilroberta-base-v1",
)
ALL8 = (
    *BEST4,
    "cross-encoder/stsb-distilroberta-base",
    "sentence-transformers/bert-base-nli-max-tokens",
    "sentence-transformers/msmarco-roberta-base-v2",
    "sentence-transformers/paraphrase-xlm-r-multilingual-v1",
)
PRESETS = {
    "mini": ("minilm",),
    "base": ("mpnet",),
    "paper": BEST4,
    "best4": BEST4,
    "all8": ALL8,
    "multilingual": ("multilingual",),
}
LANGUAGES = {"multilingual": multilingual.spoken()}
"""Languages of the models, by preset; English if it is not listed."""
VALUES: dict[tuple[object, object], str] = {("multilingual", "references"): "f1"}
"""The default of the option `value`, by preset and `against`; the paper's precision if it is not listed.
Selected on English rows, see docs/languages.md."""
ENTAILMENT = {"mini": ("gistmeter/entail",), "base": ("gistmeter/entail-base",)}
"""Models for `task=nli`, by preset."""
RETRIEVER = "minilm"
"""Sentence encoder that selects the premises of entailment. A larger one agreed less with people."""


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Speed:
    """Build SPEED.

    Args:
        preset: `mini` (MiniLM), `base` (MPNet-base), `paper` or `best4` (the paper's four best models),
            `all8` (all models of table 6), or `multilingual` (multilingual-e5-small). `task=nli` requires
            `mini`, `base`, or a `model`.
        model: Models that replace the preset's, separated by commas.
        runtime: Device, data type, and batch size.
        options: See `SpeedOptions`.
    """
    case = (preset, options.get("against", "references"))
    usual = {"value": VALUES[case]} if model is None and case in VALUES else {}
    chosen = spoken_options(SpeedOptions, {**usual, **options}, LANGUAGES, preset, model)
    if chosen.baseline == BY_LANGUAGE and (model or preset != "multilingual"):
        raise UsageError("baseline=language is for the preset multilingual; give a number instead")
    if chosen.task != "similarity":
        judges = model.split(",") if model else preset_from(f"speed:task={chosen.task}", ENTAILMENT, preset)
        return Speed(tuple(_entailment(name, runtime, chosen) for name in judges), chosen)
    names = model.split(",") if model else preset_from("speed", PRESETS, preset)
    return Speed(tuple(_load(name, runtime, cross=chosen.mode == "cross") for name in names), chosen)


def _entailment(name: str, runtime: Runtime, options: SpeedOptions) -> SentenceModel:
    scorer = PairScorer.load(find_model(name), runtime)
    if scorer.entailment is None:
        raise BadModel(
            f"{name} has a single output; task={options.task} needs outputs for entailment and "
            "contradiction: give a natural language inference model with --model"
        )
    retriever = Encoder.load(RETRIEVER, runtime)
    parts = options.language == "en"
    return Entailment(scorer, retriever, options.similarity, options.contradiction, parts)


def _load(name: str, runtime: Runtime, *, cross: bool) -> SentenceModel:
    if cross:
        files = find_model(name)
        if is_cross_encoder(files):
            return Cross(PairScorer.load(files, runtime))
    return Cosine(Encoder.load(name, runtime))
