"""The `Correlations` type: print, convert and display correlations with human judgements."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gistmeter.report.frame import Columns, Frame, Kind, frame_of, write_jsonl
from gistmeter.report.notebook import html_table
from gistmeter.report.table import benchmark_table

NUMBERS = ("n", "n_undefined", "pearson", "spearman", "kendall", "low", "high")
SHOWN = 20  # rows shown in a notebook
HEADERS = ("metric", "part", "dimension", "level", "n", "pearson", "low", "high")


@dataclass(frozen=True, slots=True, repr=False)
class Correlations:
    """Correlations of metrics with human judgements, in the format of `gistmeter benchmark --json`.

    `print` shows a table; iteration yields the rows.

    Args:
        rows: One row per metric, component, human dimension and level, with the keys `task, metric, part,
            dimension, level, n, n_undefined, pearson, spearman, kendall, low, high, signature`; an undefined
            number is None, and `problem` gives the reason.
    """

    rows: Sequence[Mapping[str, Any]]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, list[dict[str, object]]]:
        """Return a JSON-serializable dict with the `rows`."""
        return {"rows": [dict(row) for row in self.rows]}

    def to_jsonl(self, path: str | Path) -> None:
        """Write the rows as JSON lines; a path that ends in .gz is compressed.

        Raises:
            DataError: If the file cannot be written.
        """
        write_jsonl(path, self.rows)

    def to_frame(self, kind: Kind | None = None) -> Frame:
        """Return a data frame with one row per correlation.

        Args:
            kind: `pandas`, `polars` or `pyarrow`; by default, the first that is installed.

        Raises:
            MissingExtra: If the library is not installed; by default, if none of the three is.
        """
        texts = [
            name for name in dict.fromkeys(key for row in self.rows for key in row) if name not in NUMBERS
        ]
        columns: dict[str, Any] = {name: [row.get(name) for row in self.rows] for name in texts}
        for name in NUMBERS:
            column = [np.nan if row[name] is None else row[name] for row in self.rows]
            columns[name] = np.array(column, dtype=float)
        known: Columns = columns
        return frame_of(known, kind)

    def __str__(self) -> str:
        return benchmark_table(self.rows)

    def __repr__(self) -> str:
        metrics = len({row["metric"] for row in self.rows})
        return f"Correlations: {len(self.rows)} rows, {metrics} metrics; print() shows the table"

    def _repr_html_(self) -> str:
        rows = [[_cell(row[name]) for name in HEADERS] for row in self.rows[:SHOWN]]
        return html_table(HEADERS, rows, caption=f"{len(rows)} of {len(self.rows)} correlations")


def _cell(value: object) -> str:
    if value is None:
        return "—"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
