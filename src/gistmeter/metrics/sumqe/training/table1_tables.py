"""Tables 1 and 2 of SUM-QE: correlations of system means with human ratings, and mean ratings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.correlation import pearson
from gistmeter.metrics.sumqe.qualities import QUALITIES, to_scale
from gistmeter.metrics.sumqe.training.rows import Rated

FloatArray = NDArray[np.float64]
Columns = dict[str, dict[str, FloatArray]]
"""Method → quality → value of each row."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Correlation of one method with the human ratings of one quality in one year.

    Args:
        year: Name of the data set.
        quality: Rated quality.
        method: The paper's name of the method.
        systems: Number of systems.
        spearman: Spearman's rho.
        kendall: Kendall's tau-b.
        pearson: Pearson's r.
    """

    year: str
    quality: str
    method: str
    systems: int
    spearman: float
    kendall: float
    pearson: float


def system_means(rows: Sequence[Rated], values: FloatArray) -> FloatArray:
    """Return the mean value of each system, in order of appearance; rows without a value are skipped."""
    systems = list(dict.fromkeys(row.system for row in rows))
    names = np.array([row.system for row in rows])
    means = [values[(names == system) & np.isfinite(values)] for system in systems]
    return np.array([own.mean() if len(own) else math.nan for own in means])


def people_of(rows: Sequence[Rated], quality: str) -> FloatArray:
    """Return the human rating of each row, from 1 to 5; NaN if unknown."""
    return np.array([to_scale(row.labels.get(quality, math.nan)) for row in rows])


def cell(rows: Sequence[Rated], quality: str, method: str, values: FloatArray) -> Cell:
    """Return the three correlations over systems (section 5).

    Args:
        rows: Rows of one year.
        quality: Quality whose ratings count.
        method: Name of the method.
        values: Value of each row; NaN if undefined.
    """
    from scipy.stats import kendalltau, rankdata

    said, human = system_means(rows, values), system_means(rows, people_of(rows, quality))
    known = np.isfinite(said) & np.isfinite(human)
    said, human = said[known], human[known]
    r = pearson(said, human)
    rho = pearson(rankdata(said), rankdata(human))
    tau = math.nan if math.isnan(r) else float(kendalltau(said, human).statistic)
    return Cell(rows[0].set, quality, method, int(known.sum()), rho, tau, r)


def cells_of(rated: Sequence[Rated], columns: Columns) -> list[Cell]:
    """Return table 1: each year, quality and method that has values for the quality."""
    found = []
    for year in dict.fromkeys(row.set for row in rated):
        own = [at for at, row in enumerate(rated) if row.set == year]
        rows = [rated[at] for at in own]
        for quality in QUALITIES:
            for method, values in columns.items():
                if quality in values:
                    found.append(cell(rows, quality, method, values[quality][own]))
    return found


def mean_ratings(rated: Sequence[Rated]) -> dict[str, dict[str, tuple[float, float]]]:
    """Return table 2: for each year and quality, mean and standard deviation of the systems' mean ratings."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for year in dict.fromkeys(row.set for row in rated):
        rows = [row for row in rated if row.set == year]
        means = {quality: system_means(rows, people_of(rows, quality)) for quality in QUALITIES}
        found[year] = {quality: (float(own.mean()), float(own.std())) for quality, own in means.items()}
    return found


def markdown(cells: Sequence[Cell], ratings: Mapping[str, Mapping[str, tuple[float, float]]]) -> str:
    """Return both tables in Markdown."""
    lines = ["# SUM-QE, table 1", "", "| year | quality | method | systems | ρ | τ | r |", "|---" * 7 + "|"]
    lines += [
        f"| {one.year} | {one.quality} | {one.method} | {one.systems} | {_text(one.spearman)} "
        f"| {_text(one.kendall)} | {_text(one.pearson)} |"
        for one in cells
    ]
    lines += ["", "# SUM-QE, table 2", "", f"| quality | {' | '.join(ratings)} |"]
    lines.append("|---" * (1 + len(ratings)) + "|")
    for quality in QUALITIES:
        shown = " | ".join(
            f"{_text(own[quality][0], 2)} (± {_text(own[quality][1], 2)})" for own in ratings.values()
        )
        lines.append(f"| {quality} | {shown} |")
    return "\n".join(lines) + "\n"


def _text(value: float, digits: int = 3) -> str:
    return "—" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")
