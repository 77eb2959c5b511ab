"""Saves models in the form in which `load` finds them."""

from pathlib import Path
from typing import Any

from gistmeter.models.files.load import _quiet


def save_model(model: Any, tokenizer: Any, folder: Path) -> None:  # noqa: ANN401 - transformers has no types
    """Save a model of transformers as safetensors, with its tokenizer."""
    with _quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
