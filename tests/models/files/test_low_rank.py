"""Test low-rank updates before and after they are merged into the weights."""

import copy

import torch
from torch import nn

from gistmeter.models.files.low_rank import LowRankLinear, add_low_rank, merge_low_rank


def model() -> nn.Sequential:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Sequential(nn.Linear(5, 4), nn.LayerNorm(4)))


def test_a_new_update_changes_nothing_and_trains_alone() -> None:
    plain, states = model(), torch.randn(7, 6)
    updated = copy.deepcopy(plain)
    add_low_rank(updated, rank=2)
    assert torch.equal(updated(states), plain(states))
    trained = {name for name, weight in updated.named_parameters() if weight.requires_grad}
    assert trained == {"0.down", "0.up", "2.0.down", "2.0.up"}


def test_an_update_is_the_product_of_its_factors() -> None:
    layer = LowRankLinear(nn.Linear(6, 5), rank=2, scale=3.0)
    nn.init.normal_(layer.up)
    states = torch.randn(7, 6)
    by_hand = states @ (layer.base.weight + 3.0 * layer.up @ layer.down).T + layer.base.bias
    assert torch.allclose(layer(states), by_hand, atol=1e-6)


def test_merging_keeps_the_output_and_leaves_plain_layers() -> None:
    updated, states = model(), torch.randn(7, 6)
    add_low_rank(updated, rank=2)
    for name, weight in updated.named_parameters():
        if name.endswith("up"):
            nn.init.normal_(weight)
    before = updated(states)
    merge_low_rank(updated)
    assert torch.allclose(updated(states), before, atol=1e-6)
    assert not any(isinstance(layer, LowRankLinear) for layer in updated.modules())


def test_gradients_reach_the_updates_only() -> None:
    updated = model()
    add_low_rank(updated, rank=1)
    updated(torch.randn(3, 6)).sum().backward()
    up = updated.get_parameter("0.up")
    assert up.grad is not None and float(up.grad.abs().sum()) > 0
    assert updated.get_parameter("0.base.weight").grad is None


def test_merged_weights_are_needed_only_once() -> None:
    updated = model()
    add_low_rank(updated, rank=1)
    merge_low_rank(updated)
    weights = copy.deepcopy(updated.state_dict())
    merge_low_rank(updated)
    assert all(torch.equal(weights[name], weight) for name, weight in updated.state_dict().items())
