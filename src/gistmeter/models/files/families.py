"""Families of models, decided by a model's own configuration."""

from gistmeter.models.files.load import ModelFiles, read_config

SENTINELS = ("t5", "mt5")
"""Encoder-decoders that write what belongs into their sentinels; all others are read position by position."""
COPY_INFILLER = "gistmeter-reader"
"""What the configuration of the project's own model says; see `models.fill.copy_files`."""


def family_of(files: ModelFiles) -> tuple[str, bool]:
    """Return what kind of model it is (`bert`, `t5`), and whether it has an encoder and a decoder.

    Raises:
        BadModel: If its configuration does not say.
    """
    config = read_config(files)
    family = str(config["model_type"])
    return family, family in SENTINELS or bool(config.get("is_encoder_decoder"))
