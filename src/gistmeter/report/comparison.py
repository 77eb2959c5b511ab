"""Systems compared with each other: printed, converted, drawn, shown in a notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from gistmeter.core.errors import UsageError
from gistmeter.core.score_row import json_line
from gistmeter.report.comparison_table import Style, comparison_text
from gistmeter.report.dots import dots_png
from gistmeter.report.formats import Format
from gistmeter.report.frame import Columns, Frame, Kind, frame_of, write_bytes
from gistmeter.report.sentences import sentences, warnings_of

Figures = Mapping[str, Any]
TEXTS = ("metric", "a", "b", "system", "signature")


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The systems' means and the differences between every two of them.

    `print` shows tables, what to keep in mind, and a sentence to paste for each metric.

    Args:
        systems: One row a metric and system, best first, with the keys `metric, system, mean, low, high, n,
            n_undefined, documents, signature, rank`; an undefined number is None.
        pairs: One row a metric and pair of systems, with the fields of
            `gistmeter.bench.stats.paired.PairTest`, and `significant` and `few` (fewer than ten documents).
    """

    systems: Sequence[Figures]
    pairs: Sequence[Figures]

    @property
    def warnings(self) -> list[str]:
        """What to keep in mind: too few documents, rows left out."""
        return warnings_of(self.pairs)

    @property
    def sentences(self) -> list[str]:
        """One sentence a metric to paste: the best system against the next."""
        return sentences(self.systems, self.pairs)

    def text(self, format: Format = "text") -> str:
        """Return the comparison as plain text, Markdown, LaTeX (booktabs), JSON or HTML.

        Raises:
            UsageError: If there is no such format.
        """
        if format not in get_args(Format):
            raise UsageError(f"format {format!r}: choose one of {', '.join(get_args(Format))}")
        if format == "json":
            return json_line(self.to_dict()).decode()
        styles: dict[str, Style] = {"markdown": "pipe", "latex": "latex_booktabs", "html": "html"}
        said = self.warnings, self.sentences
        return comparison_text(self.systems, self.pairs, *said, style=styles.get(format, "simple"))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return what JSON can hold: `systems`, `pairs`, `warnings` and `sentences`."""
        rows = {"systems": [dict(row) for row in self.systems], "pairs": [dict(row) for row in self.pairs]}
        return {**rows, "warnings": self.warnings, "sentences": self.sentences}

    def to_frame(self, kind: Kind | None = None, *, of: Literal["pairs", "systems"] = "pairs") -> Frame:
        """Return a data frame with a row a pair, or a row a system.

        Args:
            kind: `pandas`, `polars` or `pyarrow`; by default the first of them that is installed.
            of: `pairs` or `systems`.

        Raises:
            MissingExtra: If the library, or any of the three, is not installed.
        """
        rows = self.pairs if of == "pairs" else self.systems
        columns: dict[str, Any] = {}
        for name in rows[0] if rows else ():
            column = [row[name] for row in rows]
            columns[name] = column if name in TEXTS else np.array(column, dtype=float)
        known: Columns = columns
        return frame_of(known, kind)

    def plot(self, path: str | Path) -> None:
        """Draw every system's mean and interval as a PNG: a panel a metric.

        Raises:
            MissingExtra: If matplotlib is not installed.
            DataError: If the file cannot be written.
        """
        write_bytes(path, self.png())

    def png(self) -> bytes:
        """Return the picture that `plot` writes.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        return dots_png(self.systems)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        metrics = len({row["metric"] for row in self.systems})
        names = len({row["system"] for row in self.systems})
        return f"Comparison: {names} systems, metrics: {metrics}; print() shows the tables"

    def _repr_html_(self) -> str:
        return self.text("html")
