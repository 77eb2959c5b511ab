"""Which adapter fills the blanks, decided by a model's own configuration."""

from gistmeter.models.adapted import KIND as ADAPTED
from gistmeter.models.adapted import load_adapted
from gistmeter.models.filler import Filler
from gistmeter.models.load import ModelFiles, find_model, read_config
from gistmeter.models.runtime import Runtime

SENTINELS = ("t5", "mt5")
"""Encoder-decoders that write what belongs into their sentinels; all others are read position by position."""
READER = "gistmeter-reader"
"""What the configuration of the project's own model says; see `reader_files`."""


def load_filler(name: str, runtime: Runtime) -> Filler:
    """Load a model with the adapter of its family.

    The project's own reader says so; T5 and mT5 fill sentinels, other encoder-decoders (BART) predict at the
    decoder's own positions, and everything else is a masked language model.

    Args:
        name: `gistmeter/fill`, a folder, or a Hub id such as `t5-base@REVISION`.
        runtime: Where and how to run.

    Raises:
        ModelNotFound: If there is no such model.
        BadModel: If it cannot be loaded, or cannot fill blanks.
    """
    files = find_model(name)
    family, encoder_decoder = family_of(files)
    if family == READER:
        from gistmeter.models.filler_reader import ReaderFiller

        return ReaderFiller.load(name, runtime)
    if family in SENTINELS:
        from gistmeter.models.filler_seq2seq import Seq2SeqFiller

        return Seq2SeqFiller.load(name, runtime)
    if encoder_decoder:
        from gistmeter.models.filler_aligned import AlignedFiller

        return AlignedFiller.load(name, runtime)
    from gistmeter.models.filler_masked import MaskedFiller

    if family == ADAPTED:
        model, tokenizer, _ = load_adapted(files)
        return MaskedFiller(model, tokenizer, identity=files.identity, runtime=runtime)
    return MaskedFiller.load(name, runtime)


def family_of(files: ModelFiles) -> tuple[str, bool]:
    """Return what kind of model it is (`bert`, `t5`), and whether it has an encoder and a decoder.

    Raises:
        BadModel: If its configuration does not say.
    """
    config = read_config(files)
    family = str(config["model_type"])
    return family, family in SENTINELS or bool(config.get("is_encoder_decoder"))
