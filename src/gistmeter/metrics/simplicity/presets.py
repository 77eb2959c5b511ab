"""Build the simplicity metric from a preset or a model name, with its frequency tables."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.language import ENGLISH, check_spoken
from gistmeter.core.options import Preset, encoder_from, options_from, preset_from
from gistmeter.metrics.simplicity.metric import Simplicity
from gistmeter.metrics.simplicity.options import SimplicityOptions
from gistmeter.metrics.simplicity.weights import TABLES, weighter_from
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files.digest import sha256
from gistmeter.models.files.find import find_model
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.frequencies import SUFFIX, Frequencies, load_frequencies

# Layer 7 of 12: selected on development rows of Simplicity-DA; `gistmeter/similar` learned from it.
# Layer 17 of 24: section 4.3.2. The weights and F0.5: docs/decisions/0012-simplicity-weights.md.
ZIPF = {"weight": "zipf", "unit": "word"}
F_HALF = {**ZIPF, "value": "f_half"}
PRESETS = {
    "mini": Preset("gistmeter/similar", F_HALF, layer=4),
    "base": Preset("mpnet", F_HALF, layer=7),
    "tuned": Preset("gistmeter/simple", ZIPF, layer=4),
    "paper": Preset("roberta-large@722cf37b1afa9454edce342e7895e588b6ff1d59", layer=17),
}
SHIPPED = "gistmeter/"


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Simplicity:
    """Build the simplicity metric.

    Args:
        preset: `mini` (MiniLM that learned from MPNet-base), `base` (MPNet-base), `tuned` (MiniLM that
            identifies simplified sentences), or `paper` (roberta-large from the Hub, which the paper
            fine-tunes, with the paper's weights).
        model: Encoder that replaces the preset's; see `core.options.encoder_from` for its layer.
        runtime: Device, data type, and batch size.
        options: See `SimplicityOptions`.

    Raises:
        DataError: If a frequency table is missing or damaged.
        UsageError: If `value=p_simple` and the model was not trained for it.
    """
    own = preset_from("simplicity", PRESETS, preset)
    chosen = options_from(SimplicityOptions, {**own.options, **options})
    name, layer = encoder_from("simplicity", PRESETS, preset, model)
    if model is None:
        check_spoken(chosen.language, ENGLISH, preset)
    tables, identity = load_tables(chosen.frequencies, TABLES[chosen.weight])
    encoder = Encoder.load(name, runtime, layers=chosen.layer or layer)
    if chosen.value == "p_simple" and encoder.head is None:
        raise UsageError(f"value=p_simple: {name} was not trained for it at this layer; use --preset tuned")
    weighter = weighter_from(tables, encoder.tokenizer, chosen)
    return Simplicity(encoder, weighter, identity, chosen, encoder.head)


def load_tables(name: str, wanted: tuple[str, ...]) -> tuple[dict[str, Frequencies], str]:
    """Load frequency tables.

    Args:
        name: `gistmeter/NAME` for shipped tables, or a folder.
        wanted: Names of the tables to load.

    Returns:
        Tables by name, and their name in signatures: files, counted units, and weight of unseen words.

    Raises:
        DataError: If a table is missing or damaged.
        ModelError: If the shipped tables do not exist or are damaged.
    """
    if not wanted:
        return {}, "none"
    if name.startswith(SHIPPED):
        files = find_model(name)
        folder, identity = files.folder, files.identity
    else:
        folder = Path(name).expanduser()
        if not folder.is_dir():
            raise DataError(f"no folder of frequency tables at {name}; give {SHIPPED}frequencies or a folder")
        identity = ""
    tables = {table: load_frequencies(folder / f"{table}{SUFFIX}") for table in wanted}
    digest = hashlib.sha256("".join(sha256(folder / f"{table}{SUFFIX}") for table in wanted).encode())
    facts = [
        f"{table}({found.counted},floor=1/{found.sentences or found.tokens})"
        for table, found in tables.items()
    ]
    return tables, "/".join([identity or f"sha256:{digest.hexdigest()[:16]}", *facts])
