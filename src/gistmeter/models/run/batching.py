"""Batching: deduplicate, sort by length, run without gradients, restore the order.

No other module reorders inputs.
"""

import sys
from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from typing import NoReturn, TypeVar

import torch
from tqdm.auto import tqdm

from gistmeter.core.deadline import check_deadline
from gistmeter.core.errors import GistmeterError
from gistmeter.models.run.cpu import fast_products
from gistmeter.models.run.memory import lacks_memory
from gistmeter.models.run.runtime import Runtime

PADDING = 32
"""Maximum padding of a batch on a CPU, in tokens: running a batch costs about as much as these tokens."""
Item = TypeVar("Item", bound=Hashable)
Result = TypeVar("Result")


def in_batches(
    items: Sequence[Item],
    forward: Callable[[list[Item]], Sequence[Result]],
    *,
    length: Callable[[Item], int],
    runtime: Runtime,
    label: str = "",
) -> list[Result]:
    """Run a model on items of different lengths.

    Equal items run once. The longest items run first, so that out-of-memory errors occur early. A batch ends
    at the token budget, and on a CPU also before its padding costs more than another batch. A batch that does
    not fit into memory is halved, and the smaller batch size applies to the rest of the call.

    Args:
        items: Hashable inputs, such as tuples of token ids.
        forward: Maps a batch to one result per item. Runs in inference mode.
        length: Returns the number of tokens of an item. The cost of a batch is the length of its longest item
            times the number of items.
        runtime: Sets the token budget and whether to show progress.
        label: The text of the progress bar.

    Returns:
        One result per item, in input order.

    Raises:
        GistmeterError: If a single item does not fit into memory.
        OverTime: If the caller set a deadline and it has passed.
    """
    unique = sorted(dict.fromkeys(items), key=length, reverse=True)
    results: dict[Item, Result] = {}
    budget = runtime.token_budget()
    device = runtime.torch_device()
    padding = PADDING if device.type == "cpu" else budget
    total = sum(length(item) for item in unique)
    with torch.inference_mode(), _bar(total, label, runtime) as bar:
        while len(results) < len(unique):
            check_deadline()
            batch = _next_batch(unique, len(results), length, (budget, padding))
            try:
                with fast_products(device):
                    results.update(zip(batch, forward(batch), strict=True))
            except (MemoryError, RuntimeError) as error:
                budget = _smaller_budget(error, batch, length)
                continue
            bar.update(sum(length(item) for item in batch))
    return [results[item] for item in items]


def pad(rows: Sequence[Sequence[int]], value: int, device: torch.device) -> torch.Tensor:
    """Pad rows to the longest one and return a tensor of shape (len(rows), longest)."""
    longest = max(len(row) for row in rows)
    padded = [[*row, *[value] * (longest - len(row))] for row in rows]
    return torch.tensor(padded, dtype=torch.long, device=device)


def mask(rows: Sequence[Sequence[int]], device: torch.device) -> torch.Tensor:
    """Return the attention mask of padded rows: 1 on tokens, 0 on padding."""
    return pad([[1] * len(row) for row in rows], 0, device)


def _next_batch(
    unique: list[Item], start: int, length: Callable[[Item], int], most: tuple[int, int]
) -> list[Item]:
    """Return the items of the next batch: at least one, at most so many tokens, and so much padding."""
    budget, padding = most
    longest = max(1, length(unique[start]))
    batch = unique[start : start + max(1, budget // longest)]
    padded = list(accumulate(longest - max(1, length(item)) for item in batch))
    return batch[: bisect_right(padded, padding)]


def _smaller_budget(error: BaseException, batch: Sequence[Item], length: Callable[[Item], int]) -> int:
    """Return half of the budget that did not fit; raise other errors, and for a batch of one item."""
    if not lacks_memory(error):
        raise error
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    longest = max(1, length(batch[0]))
    if len(batch) == 1:
        raise GistmeterError(
            f"a text of {longest} tokens does not fit into memory; free memory or use --device cpu"
        ) from error
    return longest * (len(batch) // 2)


def _bar(total: int, label: str, runtime: Runtime) -> "tqdm[NoReturn]":
    pause = 0.1 if sys.stderr.isatty() else 10  # fewer lines in log files
    return tqdm(
        total=total,
        desc=label,
        unit="tok",
        unit_scale=True,
        delay=2,
        mininterval=pause,
        disable=not runtime.progress,
        leave=False,
    )
