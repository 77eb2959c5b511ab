"""The separator that MaskEval puts between two texts, which T5 does not know (section 4.1)."""

import torch

from gistmeter.models.run.types import Model

SEPARATOR = "<sep>"


def give_mean_vector(model: Model, token: int, known: int) -> None:
    """Give a model the mean of its first `known` tokens' vectors for a new token: the same every time.

    Args:
        model: Changed in place; its tables grow where they are too short.
        token: The new token's id.
        known: How many tokens there were.
    """
    if token >= model.get_input_embeddings().num_embeddings:
        model.resize_token_embeddings(token + 1, mean_resizing=False)
    with torch.no_grad():
        for table in (model.get_input_embeddings(), model.get_output_embeddings()):
            if table is not None:
                table.weight[token] = table.weight[:known].float().mean(dim=0)
