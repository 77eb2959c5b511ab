"""Differences between metrics as text for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from gistmeter.report.plain import plain
from gistmeter.report.table import UNDEFINED, _joined, _probability, _signed, _table, _wrapped

Figures = Mapping[str, Any]
SIGNIFICANT = 0.05
LEGEND = f"""difference: of Pearson's r, metric A − metric B; its interval: paired bootstrap, documents drawn
p: permutation test PERM-BOTH; Holm: p corrected for all pairs that were compared
*: Holm is below {SIGNIFICANT}, and the interval leaves out 0"""


def pairs_table(rows: Sequence[Figures]) -> str:
    """Lay out differences between metrics: a table a task, human dimension and level, a line a pair.

    Args:
        rows: As `gistmeter.bench.stats.significance.difference_row` makes them. What the bootstrap and
            Williams' test say of a pair is left to the JSON.

    >>> numbers = {"difference": -0.12, "low": -0.2, "high": -0.031, "p_permutation": 0.004, "p_holm": 0.012}
    >>> where = {"task": "mine", "dimension": "fluency", "level": "pooled", "n": 800}
    >>> print(pairs_table([{**where, "a": "rouge", "b": "speed", **numbers}]))
    mine, fluency, pooled level
    <BLANKLINE>
    metric A    metric B      difference     95 % interval      p    Holm        n
    ----------  ----------  ------------  ----------------  -----  ------  --  ---
    rouge       speed             -0.120  [-0.200, -0.031]  0.004   0.012  *   800
    <BLANKLINE>
    difference: of Pearson's r, metric A − metric B; its interval: paired bootstrap, documents drawn
    p: permutation test PERM-BOTH; Holm: p corrected for all pairs that were compared
    *: Holm is below 0.05, and the interval leaves out 0
    """
    tables: dict[tuple[str, str, str], list[Figures]] = {}
    for row in rows:
        tables.setdefault((row["task"], row["dimension"], row["level"]), []).append(row)
    blocks = [
        f"{plain(task)}, {plain(dimension)}, {plain(level)} level\n\n{_pairs(table)}"
        for (task, dimension, level), table in tables.items()
    ]
    return _joined(*blocks, LEGEND if blocks else "")


def _pairs(rows: Sequence[Figures]) -> str:
    headers = ["metric A", "metric B", "difference", "95 % interval", "p", "Holm", "", "n"]
    return _table(headers, [_cells(row) for row in rows], ["left", "left", *["right"] * 4, "left", "right"])


def _cells(row: Figures) -> list[str]:
    low, high = (_signed(row[end]) for end in ("low", "high"))
    p, corrected = (_probability(row[name]) for name in ("p_permutation", "p_holm"))
    return [
        _wrapped(row["a"]),
        _wrapped(row["b"]),
        _signed(row["difference"]),
        UNDEFINED if row["low"] is None else f"[{low}, {high}]",
        p,
        corrected,
        "*" if _differs(row) else "",
        str(row["n"]),
    ]


def _differs(row: Figures) -> bool:
    """Ask both tests: at pooled level the permutation test takes rows of one document for independent."""
    if row["p_holm"] is None or row["low"] is None:
        return False
    return bool(row["p_holm"] < SIGNIFICANT and not row["low"] <= 0 <= row["high"])
