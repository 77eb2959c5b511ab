"""Loads and saves copy infillers: the trained weights in half precision and the name of the encoder."""

from pathlib import Path
from typing import Any

from gistmeter.core.errors import BadModel
from gistmeter.models.files.adapters import read_tuned, restore_tuned, save_tuned, whole_number
from gistmeter.models.files.families import COPY_INFILLER
from gistmeter.models.files.find import ModelFiles, find_model, read_config
from gistmeter.models.files.load import load_tokenizer, load_weights
from gistmeter.models.fill.copy_infiller import CopyInfiller

SPECIALS = ("cls_token", "sep_token", "mask_token")


def new_copy_infiller(base: str, layers: int, **config: object) -> tuple[CopyInfiller, Any]:
    """Build an untrained infiller on an encoder.

    Args:
        base: The name of the encoder, as in `find_model`.
        layers: The number of layers that read the text.
        **config: Overrides for the configuration of the encoder.

    Returns:
        The infiller and its tokenizer.

    Raises:
        ModelNotFound: If the encoder does not exist.
        BadModel: If the encoder is not a BERT, or has fewer layers.
    """
    files = find_model(base)
    facts = read_config(files)
    if facts["model_type"] != "bert" or not 1 <= layers <= int(facts["num_hidden_layers"]):
        raise BadModel(
            f"{base} cannot be the encoder of a copy infiller; give a BERT with {layers} or more layers"
        )
    tokenizer = load_tokenizer(files)
    encoder = load_weights(files, "AutoModel", tokenizer, **config)
    start, end, mask = (
        tokenizer.backend_tokenizer.token_to_id(getattr(tokenizer, name)) for name in SPECIALS
    )
    return CopyInfiller(encoder, layers=layers, specials=(start, end, mask)), tokenizer


def save_copy_infiller(infiller: CopyInfiller, base: str, folder: Path) -> None:
    """Save the trained weights in float16, with a `config.json` that names the encoder."""
    save_tuned(infiller, base, folder, kind=COPY_INFILLER, facts={"layers": len(infiller.layers)})


def load_copy_infiller(files: ModelFiles) -> tuple[CopyInfiller, Any]:
    """Load an infiller and its tokenizer.

    Raises:
        ModelNotFound: If the encoder is not available.
        BadModel: If a file is damaged, or the encoder is not the one used in training.
    """
    facts = read_tuned(files, COPY_INFILLER)
    infiller, tokenizer = new_copy_infiller(str(facts["base"]), whole_number(files, facts, "layers"))
    restore_tuned(infiller, files)
    return infiller.eval(), tokenizer
