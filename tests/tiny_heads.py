"""Random word weights, saved in the format of trained ones."""

from pathlib import Path

import numpy as np

from gistmeter.models.encode.token_weighter import Head

DIMENSIONS = ("consistency", "coherence", "fluency", "relevance")


def save_heads(folder: Path, width: int, *, encoder: str = "filler") -> Path:
    """Save a head for each quality inside a model's folder, and return that folder.

    Args:
        folder: Of the filler.
        width: Of its encoder's states.
        encoder: What the heads say they read.
    """
    for seed, dimension in enumerate(DIMENSIONS):
        weight = np.random.default_rng(seed).normal(size=width).astype(np.float32)
        Head(dimension, encoder, weight).save(folder / "weigher")
    return folder
