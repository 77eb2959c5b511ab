"""Format differences between metrics as text for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from gistmeter.report.cells import UNDEFINED, aligned_table, joined, probability_text, signed_text, wrapped
from gistmeter.report.plain import plain

Figures = Mapping[str, Any]
LEGEND = """difference: Pearson's r of A minus Pearson's r of B; interval: paired bootstrap over documents
Correlations keep their signs: negate metrics for which lower is better.
p: permutation test that exchanges the standardized values of A and B (PERM-BOTH, Deutsch et al. 2021)
Holm: p corrected for all compared pairs
*: Holm is below .05, the interval leaves out 0, and there are at least ten documents"""


def pairs_table(rows: Sequence[Figures]) -> str:
    """Format differences between metrics: one table per task, human dimension and level.

    Args:
        rows: One row per pair of metrics, from `gistmeter.bench.stats.significance.difference_row`. The
            p-values of the bootstrap and of Williams' test are only in the JSON file.

    >>> numbers = {"difference": -0.12, "low": -0.2, "high": -0.031, "p_permutation": 0.004, "p_holm": 0.012}
    >>> where = {"task": "mine", "dimension": "fluency", "level": "pooled", "n": 800}
    >>> marks = {"documents": 100, "significant": True, "few": False}
    >>> print(pairs_table([{**where, "a": "rouge", "b": "speed", **numbers, **marks}]))
    mine, fluency, pooled level
    <BLANKLINE>
    metric A    metric B      difference     95 % interval      p    Holm        n
    ----------  ----------  ------------  ----------------  -----  ------  --  ---
    rouge       speed             -0.120  [-0.200, -0.031]  0.004   0.012  *   800
    <BLANKLINE>
    difference: Pearson's r of A minus Pearson's r of B; interval: paired bootstrap over documents
    Correlations keep their signs: negate metrics for which lower is better.
    p: permutation test that exchanges the standardized values of A and B (PERM-BOTH, Deutsch et al. 2021)
    Holm: p corrected for all compared pairs
    *: Holm is below .05, the interval leaves out 0, and there are at least ten documents
    """
    tables: dict[tuple[str, str, str], list[Figures]] = {}
    for row in rows:
        tables.setdefault((row["task"], row["dimension"], row["level"]), []).append(row)
    blocks = [
        f"{plain(task)}, {plain(dimension)}, {plain(level)} level\n\n{_pairs(table)}"
        for (task, dimension, level), table in tables.items()
    ]
    return joined(*blocks, LEGEND if blocks else "", _warning(rows))


def _pairs(rows: Sequence[Figures]) -> str:
    headers = ["metric A", "metric B", "difference", "95 % interval", "p", "Holm", "", "n"]
    return aligned_table(
        headers, [_cells(row) for row in rows], ["left", "left", *["right"] * 4, "left", "right"]
    )


def _cells(row: Figures) -> list[str]:
    low, high = (signed_text(row[end]) for end in ("low", "high"))
    p, corrected = (probability_text(row[name]) for name in ("p_permutation", "p_holm"))
    return [
        wrapped(row["a"]),
        wrapped(row["b"]),
        signed_text(row["difference"]),
        UNDEFINED if row["low"] is None else f"[{low}, {high}]",
        p,
        corrected,
        "*" if row["significant"] else "",
        str(row["n"]),
    ]


def _warning(rows: Sequence[Figures]) -> str:
    """Return that pairs have too few documents; empty if none has."""
    few = [row["documents"] for row in rows if row["few"]]
    if not few:
        return ""
    return (
        f"warning: {len(few)} of {len(rows)} pairs have fewer than ten documents (down to {min(few)}): "
        "too few to tell metrics apart; no difference is marked"
    )
