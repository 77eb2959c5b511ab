"""Build MaskEval from a preset or a model name, with its learned weights."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gistmeter.core.errors import BadModel
from gistmeter.core.options import Preset, preset_from, spoken_options
from gistmeter.metrics.maskeval.metric import MaskEval
from gistmeter.metrics.maskeval.options import MaskEvalOptions
from gistmeter.metrics.maskeval.weights import Learned, Uniform
from gistmeter.text.words import row_tokenizer_name

if TYPE_CHECKING:
    from gistmeter.models.encode.pair import PairEncoder
    from gistmeter.models.encode.token_weighter import Head
    from gistmeter.models.fill.protocol import Filler
    from gistmeter.models.run.runtime import Runtime

PRESETS = {
    # Selected on the development rows of SummEval; score=exact with masks_per_pass=1 is the paper's setting.
    "mini": Preset("gistmeter/fill", {"score": "probability", "masks_per_pass": 16, "spacing": 6}),
    "base": Preset("gistmeter/fill-base", {"score": "probability", "masks_per_pass": 96, "spacing": 4}),
    "paper": Preset("t5-base@a9723ea7f1b39c1eae772870f3b547bf6ef7e6c1"),
    "multilingual": Preset("google/mt5-base@2eb15465c5dd7f72a8f7984306ad05ebc3dd1e1f", {"language": "xx"}),
}
LANGUAGES = {"multilingual": "xx"}
"""Languages of the models, by preset; English if it is not listed."""
WEIGHERS = "weigher"
"""Folder of learned weights inside a model's folder."""
SHIPPED = {"gistmeter/fill": "gistmeter/weighers", "gistmeter/fill-base": "gistmeter/weighers-base"}
"""Learned weights that ship with a model."""
PROBE = "Copper-coated wires don't bend: 7-6(3) in 2013, «façade» and 天气 too."


def build(preset: str, model: str | None, runtime: "Runtime", options: Mapping[str, object]) -> MaskEval:
    """Build MaskEval.

    Args:
        preset: `mini` (the filler that ships, up to 16 words per sequence), `base` (a filler on
            MPNet-base, up to 96 words per sequence), or `paper` and `multilingual`
            (pretrained T5-base and mT5-base from the Hub; the paper fine-tunes them).
        model: Filler that replaces the preset's: a folder or an ID on the Hub.
        runtime: Device, data type, and batch size.
        options: See `MaskEvalOptions`.

    Raises:
        ModelNotFound: If the filler or its learned weights cannot be found.
        BadModel: If they cannot be loaded, or use different tokenizers.
    """
    own = preset_from("maskeval", PRESETS, preset)
    chosen = spoken_options(MaskEvalOptions, {**own.options, **options}, LANGUAGES, preset, model)
    row_tokenizer_name(chosen.language)  # reject an unknown language before loading a model
    name = model or own.model
    from gistmeter.models.fill.load import load_filler

    head = _head(name, chosen)
    filler = load_filler(name, runtime)
    weighting = _learned(name, head, filler, runtime) if head else Uniform()
    return MaskEval(filler, weighting, chosen)


def _head(name: str, options: MaskEvalOptions) -> "Head | None":
    """Load the learned weights of the chosen dimension, or return None for uniform weights."""
    if options.dimension == "none":
        return None
    from gistmeter.models.encode.token_weighter import Head
    from gistmeter.models.files.find import find_model

    if options.weigher:
        folder = Path(options.weigher).expanduser()
    elif name in SHIPPED:
        folder = find_model(SHIPPED[name]).folder
    else:
        folder = find_model(name).folder / WEIGHERS
    return Head.load(folder, options.dimension)


def _learned(name: str, head: "Head", filler: "Filler", runtime: "Runtime") -> Learned:
    from gistmeter.models.encode.token_weighter import TokenWeighter

    weigher = TokenWeighter(load_encoder(head.encoder, name, filler, runtime), head)
    return Learned(weigher, head.candidate_share)


def load_encoder(encoder: str, name: str, filler: "Filler", runtime: "Runtime") -> "PairEncoder":
    """Load the pair encoder that learned weights use.

    Args:
        encoder: Name of the encoder, or `filler` for the encoder of the filler.
        name: Name of the filler.
        filler: Filler whose tokenizer the encoder must share.
        runtime: Device, data type, and batch size.

    Raises:
        ModelNotFound: If the encoder cannot be found.
        BadModel: If the encoder cannot be loaded, or its tokenizer differs from the filler's.
    """
    from gistmeter.models.encode.pair import PairEncoder
    from gistmeter.models.encode.token_weighter import OWN

    loaded = PairEncoder.load(name if encoder == OWN else encoder, runtime)
    if loaded.vocabulary.tokenize([PROBE])[0].ids != filler.tokenize([PROBE])[0].ids:
        raise BadModel(
            f"the word weights use the tokenizer of {encoder}, which differs from that of {name}; "
            "train weights for this model with gistmeter train"
        )
    return loaded
