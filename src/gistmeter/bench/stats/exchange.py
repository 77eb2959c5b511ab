"""The paired permutation test: in each document, the two systems change places or not."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from gistmeter.bench.stats.pair_tests import Signs, draw_signs
from gistmeter.bench.stats.resampling import Floats
from gistmeter.core.bootstrap import DRAWN_AT_ONCE
from gistmeter.core.correlation import ROUNDING

EXCHANGES = 10_000
Tail = Literal["both", "less"]


def exchange_p(totals: Floats, *, tail: Tail = "both", exchanges: int = EXCHANGES, seed: int = 0) -> float:
    """Test whether the sum over documents could come from systems that are alike.

    Where two systems are alike, each document's difference is as likely with the other sign. With few
    documents all 2ⁿ exchanges are taken and p is exact; otherwise they are drawn, and p is
    (1 + extreme ones) / (1 + drawn), so that it is never 0 (Phipson and Smyth 2010).

    Args:
        totals: The sum of the differences of each document, of shape (n,).
        tail: `both`, or `less`: only sums as low as the observed one are extreme.
        exchanges: How many to draw; also the most that are taken one by one.
        seed: Of the draw.

    >>> exchange_p(np.array([1.0, 2.0, 3.0]))
    0.25
    >>> exchange_p(np.array([-1.0, -2.0, -3.0]), tail="less")
    0.125
    """
    observed = totals.sum()
    same = ROUNDING * np.abs(totals).sum()
    exact = 2 ** len(totals) <= exchanges if len(totals) < 63 else False
    extreme = drawn = 0 if exact else 1
    for signs in _every(len(totals)) if exact else _drawn(len(totals), exchanges, seed):
        sums = totals @ signs.astype(float)
        as_far = np.abs(sums) >= abs(observed) - same if tail == "both" else sums <= observed + same
        extreme += int(as_far.sum())
        drawn += len(sums)
    return extreme / drawn


def _every(documents: int) -> Iterator[Signs]:
    """Yield all exchanges, as signs of shape (documents, 2 ** documents)."""
    bits = np.arange(2**documents)[None, :] >> np.arange(documents)[:, None] & 1
    yield (1 - 2 * bits).astype(np.int8)


def _drawn(documents: int, exchanges: int, seed: int) -> Iterator[Signs]:
    """Yield random exchanges in slices, so that any number of documents fits into memory."""
    step = max(1, DRAWN_AT_ONCE // documents)
    for start in range(0, exchanges, step):
        yield draw_signs(documents, resamples=min(step, exchanges - start), seed=seed + start)
