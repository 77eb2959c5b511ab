"""Loads the part of a model that encodes text."""

from gistmeter.models.files.families import SENTINELS, family_of
from gistmeter.models.files.find import ModelFiles
from gistmeter.models.files.load import load_weights
from gistmeter.models.run.types import Model, Tokenizer


def load_bidirectional(files: ModelFiles, tokenizer: Tokenizer, **config: object) -> Model:
    """Load an encoder; of an encoder-decoder (T5, BART), load the encoder only.

    Args:
        files: From `find_model`.
        tokenizer: The tokenizer of the model.
        **config: Overrides for its configuration, such as `num_hidden_layers`.

    Raises:
        BadModel: If the model cannot be loaded.
    """
    family, encoder_decoder = family_of(files)
    if family in SENTINELS:
        return load_weights(files, "AutoModelForTextEncoding", tokenizer, **config)
    model = load_weights(files, "AutoModel", tokenizer, **config)
    # transformers cannot load the encoder of other encoder-decoders alone.
    return model.get_encoder() if encoder_decoder else model
