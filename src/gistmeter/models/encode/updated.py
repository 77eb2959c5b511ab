"""Encoders with low-rank updates, which learned from a larger encoder."""

from pathlib import Path
from typing import Any

from gistmeter.models.encode.layers import cut, kept_layers
from gistmeter.models.files.adapted import adapted_encoder
from gistmeter.models.files.adapters import read_tuned, restore_tuned, save_tuned, whole_number
from gistmeter.models.files.find import ModelFiles
from gistmeter.models.files.low_rank import merge_low_rank
from gistmeter.models.run.types import Model

KIND = "gistmeter-updated-encoder"
"""The `model_type` in the configuration of an updated encoder."""


def save_updated(encoder: Model, base: str, rank: int, folder: Path) -> None:
    """Save the updates in float16, with a `config.json` that names the encoder.

    Args:
        encoder: From `adapted_encoder`.
        base: The name of the encoder without updates, as in `find_model`.
        rank: The rank of the updates.
        folder: The folder to write to.
    """
    save_tuned(encoder, base, folder, kind=KIND, facts={"rank": rank, "layers": len(encoder.encoder.layer)})


def load_updated(files: ModelFiles, layers: int | None) -> tuple[Any, Any, int]:
    """Load an updated encoder.

    Args:
        files: From `find_model`.
        layers: The number of layers to keep; all by default.

    Returns:
        The encoder, its tokenizer and its number of layers.

    Raises:
        ModelNotFound: If the base model is not available.
        BadModel: If a file is damaged, or the base model is not the one used in training.
        UsageError: If the model has fewer layers.
    """
    facts = read_tuned(files, KIND)
    most = whole_number(files, facts, "layers")
    kept = kept_layers(layers, most)
    rank = whole_number(files, facts, "rank")
    encoder, tokenizer = adapted_encoder(str(facts["base"]), rank, num_hidden_layers=most)
    restore_tuned(encoder, files)
    merge_low_rank(encoder)
    cut(encoder, kept)
    return encoder.eval(), tokenizer, kept
