"""Determines the family of a model from its configuration."""

from gistmeter.models.files.find import ModelFiles, read_config

SENTINELS = ("t5", "mt5")
"""Encoder-decoders that generate text for sentinel tokens; other models predict at each masked position."""
COPY_INFILLER = "gistmeter-reader"
"""The `model_type` of the project's copy infiller; see `models.fill.copy_files`."""
JOINT_INFILLER = "gistmeter-joint-copy"
"""The `model_type` of the project's joint infillers; see `models.fill.joint_copy`."""


def family_of(files: ModelFiles) -> tuple[str, bool]:
    """Return the model type (`bert`, `t5`), and whether the model is an encoder-decoder.

    Raises:
        BadModel: If the configuration has no model type.
    """
    config = read_config(files)
    family = str(config["model_type"])
    return family, family in SENTINELS or bool(config.get("is_encoder_decoder"))
