"""Does one system do better than another on the same documents?

Rows of one document are not independent, so documents are what is drawn (bootstrap) and exchanged
(permutation). All pairs are corrected together by Holm's method.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from gistmeter.bench.stats.exchange import EXCHANGES, exchange_p
from gistmeter.bench.stats.pair_tests import EXCHANGES_A_PAIR, bootstrap_p, holm
from gistmeter.bench.stats.pairing import Paired, Rows, pair_rows
from gistmeter.bench.stats.power import ALPHA, detectable, documents_needed
from gistmeter.bench.stats.resampling import Counts, Floats, grouped, interval
from gistmeter.core.bootstrap import draw_means
from gistmeter.core.correlation import ROUNDING

FEW = 10
"""With fewer documents than this, no difference is called significant."""


@dataclass(frozen=True, slots=True)
class PairTest:
    """How far two systems differ; NaN is undefined.

    Args:
        a: One system.
        b: The other.
        n: Rows that have a value in both.
        documents: Of these rows.
        n_undefined: Rows that both have and that one of the two gave no value; left out in both.
        n_unmatched: Rows that only one of the two has.
        mean_a: Of `a`, over the n rows.
        mean_b: Of `b`.
        difference: `mean_a` − `mean_b`.
        low: Lower end of the 95 % interval of `difference`: paired bootstrap, documents drawn.
        high: Upper end.
        p_bootstrap: Twice the share of these drawings on the rarer side of 0.
        p_permutation: Of the two-sided permutation test, documents exchanged.
        p_holm: `p_permutation`, corrected for all pairs that were compared.
        effect: Cohen's d of paired differences: `difference` over the documents' standard deviation.
        wins: Share of documents in which `a` is above `b`; a tie counts half.
        detectable: The true difference that these documents would show in 80 % of tests.
        documents_needed: With how many documents a true difference like this one would show in 80 %.
    """

    a: str
    b: str
    n: int
    documents: int
    n_undefined: int
    n_unmatched: int
    mean_a: float = math.nan
    mean_b: float = math.nan
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p_bootstrap: float = math.nan
    p_permutation: float = math.nan
    p_holm: float = math.nan
    effect: float = math.nan
    wins: float = math.nan
    detectable: float = math.nan
    documents_needed: int | None = None

    @property
    def significant(self) -> bool:
        """Whether both tests tell the two apart, with at least ten documents."""
        apart = self.p_holm < ALPHA and not self.low <= 0 <= self.high
        return bool(self.documents >= FEW and apart)


def compare_systems(
    systems: Mapping[str, Rows], *, exchanges: int = EXCHANGES, seed: int = 0
) -> list[PairTest]:
    """Compare every two systems.

    Args:
        systems: The rows of each.
        exchanges: Least number of random exchanges.
        seed: Of bootstrap and exchanges.

    Returns:
        One test a pair, in the order of the systems.

    Raises:
        DataError: If the rows of two systems cannot be matched.

    >>> from gistmeter.bench.stats.pairing import Entry
    >>> a = [Entry("1", None, 1), Entry("2", None, 3)]
    >>> b = [Entry("1", None, 0), Entry("2", None, 1)]
    >>> (test,) = compare_systems({"a": a, "b": b})
    >>> test.difference, test.p_permutation, test.significant
    (1.5, 0.5, False)
    """
    pairs = list(combinations(systems, 2))
    # p cannot fall below 1 / (exchanges + 1), and Holm multiplies it by the number of pairs.
    exchanges = max(exchanges, EXCHANGES_A_PAIR * len(pairs))
    found = [
        _tested(a, b, pair_rows(systems[a], systems[b], names=(a, b)), exchanges=exchanges, seed=seed)
        for a, b in pairs
    ]
    corrected = holm([test.p_permutation for test in found])
    return [replace(test, p_holm=p) for test, p in zip(found, corrected, strict=True)]


def _tested(a: str, b: str, pair: Paired, *, exchanges: int, seed: int) -> PairTest:
    """Compare two systems on matched rows; `p_holm` stays undefined."""
    names, member = grouped(pair.documents)
    counted = PairTest(a, b, len(pair.a), len(names), pair.n_undefined, pair.n_unmatched)
    if not len(pair.a):
        return counted
    differences = pair.a - pair.b
    mean = float(differences.mean())
    counted = replace(counted, mean_a=float(pair.a.mean()), mean_b=float(pair.b.mean()), difference=mean)
    totals = np.bincount(member, differences).astype(float)
    wins = float(np.mean((np.sign(_unless_rounding(totals, pair.a)) + 1) / 2))
    if len(names) < 2:
        return replace(counted, wins=wins)
    drawn = draw_means(differences, [names[at] for at in member], seed=seed)
    low, high = interval(drawn)
    spread = _spread(differences, member)
    return replace(
        counted,
        low=low,
        high=high,
        p_bootstrap=bootstrap_p(drawn),
        p_permutation=exchange_p(totals, exchanges=exchanges, seed=seed),
        effect=mean / spread if spread else math.nan,
        wins=wins,
        detectable=detectable(spread, len(names)),
        documents_needed=documents_needed(mean, spread),
    )


def rank_clusters(order: Sequence[str], tests: Sequence[PairTest]) -> dict[str, int]:
    """Return the rank of each system: a new one begins where all above differ from all below.

    As the shared tasks of WMT rank systems (Bojar et al. 2013, https://aclanthology.org/W13-2201).

    Args:
        order: The systems, best first.
        tests: Of all pairs.
    """
    better = {(t.a, t.b) if t.difference > 0 else (t.b, t.a) for t in tests if t.significant}
    ranks: dict[str, int] = {}
    rank = 1
    for at, system in enumerate(order):
        if at and all((above, below) in better for above in order[:at] for below in order[at:]):
            rank += 1
        ranks[system] = rank
    return ranks


def _spread(differences: Floats, member: Counts) -> float:
    """Return the standard deviation of the documents' shares in the mean.

    It is that of the differences where each document has one row; with more, the linearised form of a ratio
    of sums, so that spread² / documents is the variance of the mean.
    """
    sizes = np.bincount(member)
    shares = (np.bincount(member, differences) - sizes * differences.mean()) * len(sizes) / sizes.sum()
    spread = float(shares.std(ddof=1))
    return spread if spread > ROUNDING * float(np.abs(differences).max()) else 0.0


def _unless_rounding(totals: Floats, size: Floats) -> Floats:
    return np.where(np.abs(totals) > ROUNDING * np.abs(size).max(), totals, 0.0)
