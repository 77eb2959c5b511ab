"""MaskEval from names: which model each preset takes, and where learned weights are found."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gistmeter.core.errors import BadModel
from gistmeter.core.options import Preset, options_from, preset_from
from gistmeter.metrics.maskeval.metric import MaskEval
from gistmeter.metrics.maskeval.options import MaskEvalOptions
from gistmeter.metrics.maskeval.weights import Learned, Uniform
from gistmeter.text.words import tokenizer_name

if TYPE_CHECKING:
    from gistmeter.models.encode.pair import PairEncoder
    from gistmeter.models.encode.token_weighter import Head
    from gistmeter.models.fill.protocol import Filler
    from gistmeter.models.run.runtime import Runtime

PRESETS = {
    # Chosen on the development rows of SummEval; masks_per_pass=1 asks for every word by itself.
    "mini": Preset("gistmeter/fill", {"masks_per_pass": 16, "spacing": 6}),
    "base": Preset("gistmeter/fill-base", {"masks_per_pass": 16, "spacing": 6}),
    "paper": Preset("t5-base@a9723ea7f1b39c1eae772870f3b547bf6ef7e6c1"),
}
WEIGHERS = "weigher"
"""Folder inside a model's own in which its learned weights lie."""
SHIPPED = {"gistmeter/fill": "gistmeter/weighers"}
"""Learned weights that ship beside a model."""
OWN = "filler"
"""What learned weights call the encoder of the filler itself."""
PROBE = "Copper-coated wires don't bend: 7-6(3) in 2013, «façade» and 天气 too."


def build(preset: str, model: str | None, runtime: "Runtime", options: Mapping[str, object]) -> MaskEval:
    """Build MaskEval.

    Args:
        preset: `mini` (what ships, several words blanked in one sequence), `base` (MPNet with the adapter
            that ships, in the same way), or `paper` (T5-base from the Hub, to be fine-tuned as in the paper).
        model: A filler in place of the preset's: a folder or an id on the Hub.
        runtime: Where and how to run.
        options: See `MaskEvalOptions`.

    Raises:
        ModelNotFound: If the filler or its learned weights are not to be had.
        BadModel: If they cannot be loaded, or do not belong together.
    """
    own = preset_from("maskeval", PRESETS, preset)
    chosen = options_from(MaskEvalOptions, {**own.options, **options})
    tokenizer_name(
        chosen.language
    )  # a language that spaCy does not know ends here, before any model is loaded
    name = model or own.model
    from gistmeter.models.fill.load import load_filler

    head = _head(name, chosen)
    filler = load_filler(name, runtime)
    weighting = _learned(name, head, filler, runtime) if head else Uniform()
    return MaskEval(filler, weighting, chosen)


def _head(name: str, options: MaskEvalOptions) -> "Head | None":
    """Return what was learned for the quality asked for, or None if none is."""
    if options.dimension == "none":
        return None
    from gistmeter.models.encode.token_weighter import Head
    from gistmeter.models.files.load import find_model

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
    """Load what learned weights read a pair with.

    Args:
        encoder: Its name, or `filler` for the one that the filler is made of.
        name: Of the filler.
        filler: The filler itself.
        runtime: Where and how to run.

    Raises:
        ModelNotFound: If there is no such encoder.
        BadModel: If it cannot be loaded, or cuts texts into other sub-words than the filler.
    """
    from gistmeter.models.encode.pair import PairEncoder

    loaded = PairEncoder.load(name if encoder == OWN else encoder, runtime)
    if loaded.vocabulary.tokenize([PROBE])[0].ids != filler.tokenize([PROBE])[0].ids:
        raise BadModel(
            f"the weights belong to {encoder}, which cuts words unlike {name}; "
            "train weights for this model with gistmeter train"
        )
    return loaded
