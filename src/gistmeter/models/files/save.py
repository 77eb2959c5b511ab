"""Saves models in the form in which `load` finds them."""

from pathlib import Path

from gistmeter.models.files.load import _quiet
from gistmeter.models.run.types import Model, Tokenizer


def save_model(model: Model, tokenizer: Tokenizer, folder: Path) -> None:
    """Save a model of transformers as safetensors, with its tokenizer."""
    with _quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
