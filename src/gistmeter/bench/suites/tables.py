"""Result types of suites: published results next to ours, each with n, level and signature.

A suite is a function from a `BenchmarkContext`, which provides rows and cached scores, to a `Result`. A line
that cannot be computed, because a metric, a model or data is missing, has a note with the reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Line:
    """One published result and ours.

    Args:
        label: The paper's name of the metric or setting.
        dimension: Human dimension, or another measured quantity.
        ours: Our result; None if not run or undefined.
        paper: Published result, on the same scale; None if not published.
        metric: Metric specification, as `gistmeter benchmark` takes it.
        level: pooled, summary, system, or another unit of averaging.
        n: Number of rows, documents or systems.
        low: Lower end of the 95 % interval of `ours`, if any.
        high: Upper end of the interval.
        signature: Signature of our result.
        note: Remark: the reason why it was not run, or differences from the paper.
    """

    label: str
    dimension: str
    ours: float | None = None
    paper: float | None = None
    metric: str = ""
    level: str = ""
    n: int = 0
    low: float | None = None
    high: float | None = None
    signature: str = ""
    note: str = ""

    @property
    def difference(self) -> float | None:
        """Our result minus the published result."""
        return None if self.ours is None or self.paper is None else self.ours - self.paper


@dataclass(frozen=True, slots=True)
class Table:
    """A table of results.

    Args:
        title: Title, with the paper and its table.
        lines: Lines.
        notes: Remarks on the whole table, such as differences from the paper's data.
    """

    title: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """One series of a figure: y values (None: no point) at numeric or named x values."""

    label: str
    x: tuple[float | str, ...]
    y: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """Data of a figure.

    Args:
        name: Part of its file names.
        title: Title.
        x: Label of the x axis.
        y: Label of the y axis.
        series: Series; x values are all numbers or all names.
        connected: Whether a line connects the points of a series.
    """

    name: str
    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    connected: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a suite.

    Args:
        tables: Tables, in the order of the papers.
        figures: Figures.
        says: Main findings, one sentence each.
    """

    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    says: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Data:
    """Rows that a suite requires.

    Args:
        task: Name of the data set.
        fields: Field → column with another name; see `read_rows`.
        name: Key in the suite, if one data set is read in two ways.
    """

    task: str
    fields: Mapping[str, str] = field(default_factory=dict)
    name: str = ""

    @property
    def key(self) -> str:
        """Key in the suite."""
        return self.name or self.task


@dataclass(frozen=True, slots=True)
class Case:
    """One row of a paper's table.

    Args:
        label: The paper's name of the metric or setting.
        metric: Our metric specification, in which `{dimension}` is replaced; None if suites cannot run it.
        part: "value", or the name of a component.
        paper: Dimension → published result.
        model: Model to use instead of the command line's.
        note: Differences from the paper; without a metric, the reason.
    """

    label: str
    metric: str | None
    part: str = "value"
    paper: Mapping[str, float] = field(default_factory=dict)
    model: str | None = None
    note: str = ""


def figures(dimensions: str, *values: float) -> dict[str, float]:
    """Return published results by dimension, given the dimensions in the paper's order.

    >>> figures("consistency fluency", 0.45, 0.41)
    {'consistency': 0.45, 'fluency': 0.41}
    """
    return dict(zip(dimensions.split(), values, strict=True))
