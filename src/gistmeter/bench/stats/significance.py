"""Compare metrics pairwise: is the difference of their correlations with human judgements significant?

There are three tests for the difference of two Pearson correlations on the same rows:

- the paired bootstrap over documents;
- the permutation test PERM-BOTH (Deutsch, Dror and Roth 2021, https://arxiv.org/abs/2104.00054), which
  standardizes both metrics and exchanges them in random cells of systems × documents;
- Williams' test (Steiger 1980; for metrics Graham and Baldwin 2014, https://aclanthology.org/D14-1020), which
  assumes normally distributed values.

The last two assume independent rows. At pooled level, rows of one document are correlated and only the
bootstrap is valid, so report the permutation test together with the interval. Among the 45 pairs of ten
metrics, two or three differ significantly by chance; use Holm's correction.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gistmeter.bench.stats.correlate import for_json
from gistmeter.bench.stats.pair_tests import (
    EXCHANGES_A_PAIR,
    Signs,
    bootstrap_p,
    draw_signs,
    holm,
    permutation_p,
    williams,
)
from gistmeter.bench.stats.paired import FEW
from gistmeter.bench.stats.power import ALPHA
from gistmeter.bench.stats.resampling import (
    Counts,
    Draw,
    Floats,
    Labels,
    at,
    flat_draws,
    grouped,
    interval,
    mean_draws,
    means,
    rows_of,
    system_draws,
)
from gistmeter.core.bootstrap import RESAMPLES, group_weights
from gistmeter.core.correlation import pearson
from gistmeter.core.levels import Level


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of two metrics' correlations with human judgements; undefined values are NaN.

    Args:
        a: First metric.
        b: Second metric.
        level: Level of the correlations; see `Correlation`.
        n: Number of rows (pooled), documents with both correlations defined (summary), or systems (system).
        n_undefined: Number of judged rows without a value of one of the metrics; they are omitted for both.
        pearson_a: Pearson's r of `a` with the judgements, on the rows where both metrics have a value.
        pearson_b: Pearson's r of `b`, on the same rows.
        difference: `pearson_a` − `pearson_b`.
        low: Lower end of the 95 % interval of `difference`, from a paired bootstrap over documents.
        high: Upper end of the interval.
        p_bootstrap: Twice the share of resamples on the rarer side of 0.
        p_permutation: p-value of PERM-BOTH.
        p_williams: p-value of Williams' test; undefined at summary level.
        p_holm: `p_permutation`, corrected for all compared pairs.
        documents: Number of documents of these rows; a row without a document is its own.
    """

    a: str
    b: str
    level: Level
    n: int
    n_undefined: int
    pearson_a: float
    pearson_b: float
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p_bootstrap: float = math.nan
    p_permutation: float = math.nan
    p_williams: float = math.nan
    p_holm: float = math.nan
    documents: int = 0

    @property
    def significant(self) -> bool:
        """Whether both tests tell the two apart, with at least ten documents.

        At the pooled level, the permutation test treats rows of one document as independent.
        """
        apart = self.p_holm < ALPHA and not self.low <= 0 <= self.high
        return bool(self.documents >= FEW and apart and not math.isnan(self.low))


DrawSigns = Callable[[int], Signs]


class _Pair(NamedTuple):
    a: Floats
    b: Floats
    human: Floats
    documents: list[str | None]
    systems: list[str | None]


def compare_all(  # noqa: PLR0913 - the columns of a table, and how to draw from it
    columns: Mapping[str, ArrayLike],
    human: ArrayLike,
    *,
    documents: Labels,
    systems: Labels,
    level: Level = "pooled",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Difference]:
    """Compare all pairs of metrics by their correlation with human judgements.

    The selection of rows and the bootstrap follow `correlate`; all tests are two-sided. Correlations keep
    their sign, so negate metrics for which lower is better.

    Args:
        columns: Values of each metric, of shape (n,); NaN if undefined.
        human: Judgements, of shape (n,); NaN if missing.
        documents: Document id of each row, or None.
        systems: System name of each row, or None.
        level: Level of the correlations.
        resamples: Number of bootstrap resamples, and minimum number of permutations. There are at least 40
            permutations per pair, because p cannot be below 1 / (permutations + 1) and Holm's correction
            multiplies it by the number of pairs.
        seed: Seed of resamples and permutations; all pairs on the same rows share them.

    Returns:
        One difference per pair, in column order.

    Raises:
        ValueError: If the columns differ in length.

    >>> metrics = {"good": [1, 2, 4, 3, 5, 6], "poor": [3, 1, 2, 6, 4, 5]}
    >>> (found,) = compare_all(metrics, [1, 2, 3, 4, 5, 6], documents="aabbcc", systems="xyxyxy")
    >>> round(found.pearson_a, 3), round(found.pearson_b, 3), found.n
    (0.943, 0.657, 6)
    """
    y = np.asarray(human, dtype=float)
    values = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    if {len(documents), len(systems), *map(len, values.values())} != {len(y)}:
        raise ValueError("columns, human, documents and systems must have the same length")
    judged = np.isfinite(y)
    if level != "pooled":
        judged &= [bool(label) for label in (documents if level == "summary" else systems)]
    # Most pairs have the same rows, so cache the draws.
    draw = lru_cache(maxsize=8)(partial(group_weights, resamples=resamples, seed=seed))
    pairs = list(combinations(values, 2))
    exchanges = max(resamples, EXCHANGES_A_PAIR * len(pairs))
    signs = lru_cache(maxsize=2)(partial(draw_signs, resamples=exchanges, seed=seed))
    found = []
    with np.errstate(all="ignore"):  # undefined values become NaN
        for a, b in pairs:
            kept = np.flatnonzero(judged & np.isfinite(values[a]) & np.isfinite(values[b]))
            pair = _Pair(values[a][kept], values[b][kept], y[kept], at(documents, kept), at(systems, kept))
            compare = {"pooled": _flat, "summary": _within_documents, "system": _between_systems}[level]
            n_undefined = int(judged.sum()) - len(kept)
            several = len(grouped(pair.documents)[0])
            tested = compare(pair, draw, signs)
            found.append(replace(tested, a=a, b=b, n_undefined=n_undefined, documents=several))
    corrected = holm([pair.p_permutation for pair in found])
    return [replace(pair, p_holm=p) for pair, p in zip(found, corrected, strict=True)]


def difference_row(
    task: str, dimension: str, difference: Difference, signatures: Mapping[str, str]
) -> dict[str, object]:
    """Return a difference as a JSON row; undefined numbers are None.

    Args:
        task: Name of the data set.
        dimension: Human dimension.
        difference: Difference of two metrics.
        signatures: Metric name → text of its signature.
    """
    marks = {"significant": difference.significant, "few": difference.documents < FEW}
    figures = for_json(asdict(difference)) | marks
    both = {"signature_a": signatures[difference.a], "signature_b": signatures[difference.b]}
    return {"task": task, "dimension": dimension} | figures | both


def _flat(pair: _Pair, draw: Draw, signs: DrawSigns) -> Difference:
    a, b, human = sides = pair[:3]
    r = pearson(a, human), pearson(b, human), pearson(a, b)
    found = Difference("", "", "pooled", len(human), 0, *r[:2], p_williams=williams(*r, len(human))[1])
    drawn_a, drawn_b = (flat_draws(side, human, pair.documents, draw) for side in (a, b))
    return _tested(found, drawn_a - drawn_b, sides, np.zeros(len(human), dtype=int), signs)


def _within_documents(pair: _Pair, draw: Draw, signs: DrawSigns) -> Difference:
    names, groups = rows_of(pair.documents)
    r = [[pearson(side[rows], pair.human[rows]) for side in (pair.a, pair.b)] for rows in groups]
    each = np.array(r).reshape(-1, 2)
    defined = np.flatnonzero(np.isfinite(each).all(axis=1))
    if not len(defined):
        return Difference("", "", "summary", 0, 0, math.nan, math.nan)
    r_a, r_b = each[defined].mean(axis=0).tolist()
    found = Difference("", "", "summary", len(defined), 0, r_a, r_b)
    drawn = mean_draws(each[defined, 0] - each[defined, 1], at(names, defined), draw)
    kept = [groups[document] for document in defined]
    a, b, human = (side[np.concatenate(kept)] for side in pair[:3])
    member = np.repeat(np.arange(len(kept)), [len(rows) for rows in kept])
    return _tested(found, drawn, (a, b, human), member, signs)


def _between_systems(pair: _Pair, draw: Draw, signs: DrawSigns) -> Difference:
    a, b, human = sides = pair[:3]
    names, rows = rows_of(pair.systems)
    mean_a, mean_b, mean_human = (means(side, rows) for side in sides)
    r = pearson(mean_a, mean_human), pearson(mean_b, mean_human), pearson(mean_a, mean_b)
    found = Difference("", "", "system", len(names), 0, *r[:2], p_williams=williams(*r, len(names))[1])
    drawn_a, drawn_b = (system_draws(side, human, pair.systems, pair.documents, draw) for side in (a, b))
    return _tested(found, drawn_a - drawn_b, sides, grouped(pair.systems)[1], signs)


def _tested(
    found: Difference, drawn: Floats, sides: tuple[Floats, Floats, Floats], member: Counts, signs: DrawSigns
) -> Difference:
    """Add the difference, its interval and its tests if both correlations are defined."""
    difference = found.pearson_a - found.pearson_b
    if math.isnan(difference):
        return found
    low, high = interval(drawn)
    p = permutation_p(*sides, member, signs(len(member)), of_means=found.level == "system")
    found = replace(found, difference=difference, low=low, high=high)
    return replace(found, p_bootstrap=bootstrap_p(drawn), p_permutation=p)
