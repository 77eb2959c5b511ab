"""Test plain attention: equal to PyTorch's, and used exactly where it can be."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from gistmeter.models.run import attention
from gistmeter.models.run.attention import PlainAttention

ROWS, HEADS, LENGTH, OTHERS, WIDTH = 5, 3, 7, 11, 4


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> list[torch.Size]:
    """The shapes of the queries that plain attention got."""
    shapes: list[torch.Size] = []
    exact: Callable[..., torch.Tensor] = attention.plain_attention

    def counted(queries: torch.Tensor, *others: object) -> torch.Tensor:
        shapes.append(queries.shape)
        return exact(queries, *others)

    monkeypatch.setattr(attention, "plain_attention", counted)
    return shapes


def inputs() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    lengths = (LENGTH, OTHERS, OTHERS)
    return [
        torch.randn(ROWS, length, HEADS, WIDTH, generator=generator).transpose(1, 2) for length in lengths
    ]


def masks() -> dict[str, torch.Tensor | None]:
    generator = torch.Generator().manual_seed(1)
    keys = torch.arange(OTHERS) < torch.tensor([11, 9, 4, 1, 2])[:, None]
    full = torch.rand(ROWS, 1, LENGTH, OTHERS, generator=generator) < 0.5
    full[..., 0] = True
    return {
        "none": None,
        "keys": keys[:, None, None, :],
        "full": full,
        "one": keys[:1, None, None, :],
        "added": (~keys[:, None, None, :]) * -1e4,
        "by head": torch.randn(1, HEADS, LENGTH, OTHERS, generator=generator),
    }


@pytest.mark.parametrize("name", masks())
@pytest.mark.parametrize("at_once", [1, 2 * HEADS * LENGTH * OTHERS, 2**19])
def test_plain_attention_equals_pytorchs(
    name: str, at_once: int, plain: list[torch.Size], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "AT_ONCE", at_once)
    queries, keys, values = inputs()
    mask = masks()[name]
    expected = scaled_dot_product_attention(queries, keys, values, mask)
    with torch.inference_mode(), PlainAttention():
        found = scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        scaled = scaled_dot_product_attention(queries, keys, values, mask, scale=1.0)
    assert len(plain) == 2
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(scaled, scaled_dot_product_attention(queries, keys, values, mask, scale=1.0))


@pytest.mark.parametrize(
    "given", [{"is_causal": True}, {"attn_mask": torch.ones(LENGTH, OTHERS, dtype=torch.bool)}]
)
def test_other_arguments_are_left_to_pytorch(given: dict[str, Any], plain: list[torch.Size]) -> None:
    queries, keys, values = inputs()
    with torch.inference_mode(), PlainAttention():
        found = scaled_dot_product_attention(queries, keys, values, **given)
    assert plain == []
    torch.testing.assert_close(found, scaled_dot_product_attention(queries, keys, values, **given))


def test_gradients_precisions_long_texts_and_traces_are_left_to_pytorch(
    plain: list[torch.Size], monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, keys, values = inputs()
    with PlainAttention():
        scaled_dot_product_attention(queries, keys, values)
        with torch.inference_mode():
            scaled_dot_product_attention(queries.bfloat16(), keys.bfloat16(), values.bfloat16())
            with torch.autocast("cpu", dtype=torch.bfloat16):
                scaled_dot_product_attention(queries, keys, values)
            with monkeypatch.context() as tracing:
                tracing.setattr(torch.jit, "is_tracing", lambda: True)
                scaled_dot_product_attention(queries, keys, values)
            monkeypatch.setattr(attention, "MOST", HEADS * LENGTH * OTHERS - 1)
            scaled_dot_product_attention(queries, keys, values)
            assert plain == []
            monkeypatch.setattr(attention, "MOST", HEADS * LENGTH * OTHERS)
            scaled_dot_product_attention(queries, keys, values)
    assert plain == [queries.shape]
