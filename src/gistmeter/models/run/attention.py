"""Attention on CPUs as two matrix products and a softmax.

PyTorch's fused attention multiplies small blocks, on which oneDNN is slow. At the sizes of a batch of texts,
whole products need a third of the time; `benchmarks/timing_attention.py` compares them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode

AT_ONCE = 2**19
"""Number of attention scores that are computed at once, at least those of one text: few, so that they stay in
the cache."""
MOST = 2**23
"""Maximum number of attention scores of one text: 32 MB. Longer texts need fused attention."""


class PlainAttention(TorchFunctionMode):
    """Context in which fp32 models on CPUs compute attention with `plain_attention`."""

    def __torch_function__(
        self,
        function: Callable[..., object],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> object:
        """Run a function of PyTorch."""
        run: Callable[..., object] = _attention if function is scaled_dot_product_attention else function
        return run(*args, **(kwargs or {}))


def plain_attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None, scale: float
) -> torch.Tensor:
    """Return softmax(queries · keysᵀ · scale + mask) · values, (B, heads, T, d).

    Args:
        queries: fp32, (B, heads, T, d).
        keys: fp32, (B, heads, C, d).
        values: fp32, (B, heads, C, d).
        mask: Added to the scores, or False where a key is hidden; broadcasts to (B, heads, T, C).
        scale: Factor of the products.
    """
    rows, heads, length, width = queries.shape
    others = keys.shape[2]
    first, second, third = (
        tensor.reshape(rows * heads, -1, width) for tensor in (queries * scale, keys, values)
    )
    if mask is not None:
        if mask.dtype == torch.bool:
            mask = torch.zeros_like(mask, dtype=first.dtype).masked_fill_(~mask, torch.finfo(first.dtype).min)
        mask = mask.expand(rows, *mask.shape[1:])
    mixed = torch.empty_like(first)
    step = max(1, AT_ONCE // (heads * length * others))
    for start in range(0, rows, step):
        part = slice(start * heads, (start + step) * heads)
        scores = torch.bmm(first[part], second[part].transpose(1, 2))
        if mask is not None:
            scores.view(-1, heads, length, others).add_(mask[start : start + step])
        torch.bmm(scores.softmax(dim=-1), third[part], out=mixed[part])
    return mixed.view(rows, heads, length, width)


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    *others: float,
    **named: float | None,
) -> torch.Tensor:
    """Run plain attention where it can, else PyTorch's; the arguments are those of PyTorch."""
    scale = named.get("scale")
    plain = (
        query.dtype == torch.float32
        and query.dim() == 4
        and key.shape == value.shape
        and query.shape[:2] == key.shape[:2]
        and 0 < query.shape[1:3].numel() * key.shape[2] <= MOST
        and (attn_mask is None or attn_mask.dim() == 4)
        and not any(others)  # dropout, causal attention
        and not any(value for name, value in named.items() if name != "scale")
        and not (torch.is_grad_enabled() or torch.is_autocast_enabled("cpu"))
        and not _is_tracing()  # OpenVINO recognizes the fused function
    )
    if plain:
        factor = query.shape[3] ** -0.5 if scale is None else scale
        return plain_attention(query, key, value, attn_mask, factor)
    run: Callable[..., torch.Tensor] = scaled_dot_product_attention
    return run(query, key, value, attn_mask, *others, **named)


def _is_tracing() -> bool:
    jit: Any = torch.jit  # does not declare this function
    return bool(jit.is_tracing())
