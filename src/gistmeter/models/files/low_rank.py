"""Low-rank updates of linear layers (LoRA, Hu et al., 2021), merged into the weights before inference."""

import torch
from torch import nn

LARGEST_RANK = 1024
"""More than any encoder's updates need; a damaged file must not exhaust the memory."""


class LowRankLinear(nn.Module):
    """A frozen linear layer with a trainable low-rank update: y = Wx + b + scale · B(Ax).

    Args:
        base: The linear layer; its weights are frozen.
        rank: The rank r of A (r, in) and B (out, r).
        scale: The factor of the update.
    """

    def __init__(self, base: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        self.base, self.scale = base, scale
        self.down = nn.Parameter(torch.empty(rank, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))  # the update starts at zero
        nn.init.kaiming_uniform_(self.down, a=5**0.5)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Return the output of the layer with its update, shape (…, out)."""
        update = nn.functional.linear(nn.functional.linear(states, self.down), self.up)
        output: torch.Tensor = self.base(states) + self.scale * update
        return output

    def merged(self) -> nn.Linear:
        """Add the update to the frozen weights and return the plain layer."""
        with torch.no_grad():
            self.base.weight += self.scale * (self.up @ self.down)
        return self.base


def add_low_rank(model: nn.Module, *, rank: int, scale: float = 2.0) -> None:
    """Freeze a model and add a trainable low-rank update to every linear layer.

    Args:
        model: Changed in place.
        rank: The rank of the updates; at least 1.
        scale: The factor of the updates.
    """
    model.requires_grad_(False)
    for parent, name, layer in _linear_layers(model):
        setattr(parent, name, LowRankLinear(layer, rank, scale))


def merge_low_rank(model: nn.Module) -> None:
    """Merge all low-rank updates of a model into its weights, in place."""
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if isinstance(layer, LowRankLinear):
                setattr(parent, name, layer.merged())


def _linear_layers(model: nn.Module) -> list[tuple[nn.Module, str, nn.Linear]]:
    return [
        (parent, name, layer)
        for parent in list(model.modules())
        for name, layer in parent.named_children()
        if isinstance(layer, nn.Linear)
    ]
