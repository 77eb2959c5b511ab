"""The one place that reorders: dedupe, sort by length, run without gradients, restore the order."""

import sys
from collections.abc import Callable, Hashable, Sequence
from typing import NoReturn, TypeVar

import torch
from tqdm.auto import tqdm

from gistmeter.core.deadline import check_deadline
from gistmeter.core.errors import GistmeterError
from gistmeter.models.run.cpu import fast_products
from gistmeter.models.run.memory import lacks_memory
from gistmeter.models.run.runtime import Runtime

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
    """Run a model over items of unequal lengths.

    Equal items run once. The longest run first, so that trouble with memory shows at once; a batch that
    does not fit is halved, and the smaller size is kept for the rest of the call.

    Args:
        items: What to run, hashable: token ids as tuples.
        forward: Turns a batch into one result an item. Runs in inference mode.
        length: Tokens of an item; a batch costs its longest times its number.
        runtime: Gives the budget of tokens and says whether to show progress.
        label: What the progress bar says.

    Returns:
        One result an item, in the order given.

    Raises:
        GistmeterError: If memory is too small for a single item.
        OverTime: If the caller has set a deadline and it is over.
    """
    unique = sorted(dict.fromkeys(items), key=length, reverse=True)
    results: dict[Item, Result] = {}
    budget = runtime.token_budget()
    device = runtime.torch_device()
    total = sum(length(item) for item in unique)
    with torch.inference_mode(), _bar(total, label, runtime) as bar:
        while len(results) < len(unique):
            check_deadline()
            batch = _next_batch(unique, len(results), length, budget)
            try:
                with fast_products(device, length(batch[0])):
                    results.update(zip(batch, forward(batch), strict=True))
            except (MemoryError, RuntimeError) as error:
                budget = _smaller_budget(error, batch, length)
                continue
            bar.update(sum(length(item) for item in batch))
    return [results[item] for item in items]


def pad(rows: Sequence[Sequence[int]], value: int, device: torch.device) -> torch.Tensor:
    """Stack rows of unequal lengths into one tensor of shape (len(rows), longest)."""
    longest = max(len(row) for row in rows)
    padded = [[*row, *[value] * (longest - len(row))] for row in rows]
    return torch.tensor(padded, dtype=torch.long, device=device)


def mask(rows: Sequence[Sequence[int]], device: torch.device) -> torch.Tensor:
    """Return the attention mask of padded rows: 1 on tokens, 0 on padding."""
    return pad([[1] * len(row) for row in rows], 0, device)


def _next_batch(unique: list[Item], start: int, length: Callable[[Item], int], budget: int) -> list[Item]:
    longest = max(1, length(unique[start]))
    return unique[start : start + max(1, budget // longest)]


def _smaller_budget(error: BaseException, batch: Sequence[Item], length: Callable[[Item], int]) -> int:
    """Return half of what did not fit; raise what is not a lack of memory, or cannot be halved."""
    if not lacks_memory(error):
        raise error
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    longest = max(1, length(batch[0]))
    if len(batch) == 1:
        raise GistmeterError(
            f"a text of {longest} tokens does not fit into memory; free some, or use --device cpu"
        ) from error
    return longest * (len(batch) // 2)


def _bar(total: int, label: str, runtime: Runtime) -> "tqdm[NoReturn]":
    pause = 0.1 if sys.stderr.isatty() else 10  # a log file wants few lines
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
