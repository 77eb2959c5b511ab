"""Keep the lower layers of an encoder."""

from gistmeter.core.errors import UsageError
from gistmeter.models.run.types import Model


def kept_layers(layers: int | None, most: int) -> int:
    """Return the number of layers to keep; all by default.

    Args:
        layers: The wanted number.
        most: The number of layers of the model.

    Raises:
        UsageError: If the model has fewer layers.
    """
    kept = most if layers is None else layers
    if not 1 <= kept <= most:
        raise UsageError(f"layer={layers}: choose a layer from 1 to {most}")
    return kept


def cut(encoder: Model, layers: int) -> None:
    """Keep only the given number of layers, from the bottom."""
    encoder.encoder.layer = encoder.encoder.layer[:layers]
    encoder.config.num_hidden_layers = layers
