"""Adds the separator token that MaskEval puts between two texts to a T5 (section 4.1)."""

import torch

from gistmeter.models.run.types import Model

SEPARATOR = "<sep>"


def give_mean_vector(model: Model, token: int, known: int) -> None:
    """Set the embedding of a new token to the mean of the first `known` embeddings, so it is deterministic.

    Args:
        model: Changed in place; its embedding tables are extended if they are too short.
        token: The id of the new token.
        known: The number of tokens before the new one.
    """
    if token >= model.get_input_embeddings().num_embeddings:
        model.resize_token_embeddings(token + 1, mean_resizing=False)
    with torch.no_grad():
        for table in (model.get_input_embeddings(), model.get_output_embeddings()):
            if table is not None:
                table.weight[token] = table.weight[:known].float().mean(dim=0)
