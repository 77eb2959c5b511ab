"""Saves models in the format that `models.files.load` reads."""

from pathlib import Path

from gistmeter.models.files.load import _quiet
from gistmeter.models.run.types import Model, Tokenizer


def save_model(model: Model, tokenizer: Tokenizer, folder: Path) -> None:
    """Save a transformers model as safetensors, with its tokenizer."""
    with _quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
