"""Selects the filler adapter from the configuration of a model."""

from gistmeter.models.files.families import COPY_INFILLER, JOINT_INFILLER, SENTINELS, family_of
from gistmeter.models.files.find import find_model
from gistmeter.models.fill.protocol import Filler
from gistmeter.models.run.runtime import Runtime


def load_filler(name: str, runtime: Runtime) -> Filler:
    """Load a model with the adapter of its family.

    T5 and mT5 fill sentinel tokens, other encoder-decoders (BART) predict at the mask positions of the
    decoder, and the project's two kinds of copy infillers have their own adapters. All other models are
    loaded as masked language models.

    Args:
        name: `gistmeter/fill`, a folder, or a Hub id such as `t5-base@REVISION`.
        runtime: The device, the precision and the backend.

    Raises:
        ModelNotFound: If the model does not exist.
        BadModel: If it cannot be loaded, or cannot fill blanks.
    """
    files = find_model(name)
    family, encoder_decoder = family_of(files)
    if family == COPY_INFILLER:
        from gistmeter.models.fill.copy import CopyFiller

        return CopyFiller.load(name, runtime)
    if family == JOINT_INFILLER:
        from gistmeter.models.fill.joint_copy import JointCopyFiller

        return JointCopyFiller.of(files, runtime)
    if family in SENTINELS:
        from gistmeter.models.fill.t5 import Seq2SeqFiller

        return Seq2SeqFiller.load(name, runtime)
    if encoder_decoder:
        from gistmeter.models.fill.bart import AlignedFiller

        return AlignedFiller.load(name, runtime)
    from gistmeter.models.fill.masked_lm import MaskedFiller

    return MaskedFiller.load(name, runtime)
