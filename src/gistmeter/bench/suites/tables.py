"""Suites: the tables of papers beside what is measured here, every cell with its n, level and signature.

A suite is a function from a `BenchmarkContext`, which holds the rows and scores through the store, to a
`Result`. What cannot be measured, because a metric, a model or the data is not there, stands in its table
with the reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Line:
    """One cell of a paper's table, and what was measured.

    Args:
        label: What the paper calls the metric, or what was done.
        dimension: What people judged, or what was counted.
        ours: As measured; None if it was not, or is undefined.
        paper: As published, on the same scale; None if it was not.
        metric: As `gistmeter benchmark` would be asked for it.
        level: pooled, summary, system, or what else was averaged over.
        n: Rows, documents or systems it was measured on.
        low: Lower end of the 95 % interval of `ours`, where it has one.
        high: Upper end.
        signature: What decided our number.
        note: What a reader must know: why it was not run, what differs from the paper.
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
        """Ours less the paper's."""
        return None if self.ours is None or self.paper is None else self.ours - self.paper


@dataclass(frozen=True, slots=True)
class Table:
    """Lines that belong together.

    Args:
        title: What is compared, and which table of which paper it stands beside.
        lines: Its lines.
        notes: What holds for all of them: other rows than the paper's, for instance.
    """

    title: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one colour: numbers, or names, against numbers (None: no point)."""

    label: str
    x: tuple[float | str, ...]
    y: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, as data.

    Args:
        name: Part of its files' names.
        title: Above it.
        x: Below it.
        y: Beside it.
        series: What is drawn: lines where x are numbers, bars or dots where they are names.
        connected: Whether points of a series are joined by a line.
    """

    name: str
    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    connected: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a suite.

    Args:
        tables: In the papers' order.
        figures: Pictures.
        says: What the figures say, a sentence each.
    """

    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    says: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Data:
    """Rows that a suite needs.

    Args:
        task: Whose rows.
        fields: Columns that hold a field under another name, as in `read_rows`.
        name: What the suite calls them, where one task is read in two ways.
    """

    task: str
    fields: Mapping[str, str] = field(default_factory=dict)
    name: str = ""

    @property
    def key(self) -> str:
        """What the suite asks for them by."""
        return self.name or self.task


@dataclass(frozen=True, slots=True)
class Case:
    """A line of a paper's table.

    Args:
        label: The paper's name of it.
        metric: Ours, with its options; `{dimension}` stands for the dimension. None if there is none.
        part: Which of the metric's figures.
        paper: The paper's figures by dimension.
        model: Another model than the command line's.
        note: What differs from the paper.
    """

    label: str
    metric: str | None
    part: str = "value"
    paper: Mapping[str, float] = field(default_factory=dict)
    model: str | None = None
    note: str = ""


def figures(dimensions: str, *values: float) -> dict[str, float]:
    """Return a paper's figures by dimension, given the dimensions in its order.

    >>> figures("consistency fluency", 0.45, 0.41)
    {'consistency': 0.45, 'fluency': 0.41}
    """
    return dict(zip(dimensions.split(), values, strict=True))
