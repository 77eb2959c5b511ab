"""The top of the page, drawn without scripts: means, systems with intervals, distributions, correlations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.correlation import pearson
from gistmeter.core.result import MetricResult
from gistmeter.report.cells import UNDEFINED, number_text
from gistmeter.report.html.data import View, judged_dimensions, system_names
from gistmeter.report.plain import plain

PANELS = 12  # metrics that are drawn
SYSTEMS = 24  # of a panel
PLOT, LEFT, RIGHT, LINE, BARS = 288, 116, 16, 20, 44  # of a panel, in pixels
BINS = 24
LABEL = 16  # characters of a system's name that fit to the left of a plot
LONGEST = 60  # characters of a name; a longer one is truncated
CHARACTER = 7  # pixels


class Dot(NamedTuple):
    """The mean of a system with its interval."""

    name: str
    mean: float
    low: float
    high: float
    n: int


class Axis(NamedTuple):
    """The horizontal axis of a panel: where the plot begins, in pixels, and the values at its ends."""

    left: int
    low: float
    high: float

    @property
    def width(self) -> int:
        """The width of the panel."""
        return self.left + PLOT + RIGHT

    def x(self, value: float) -> float:
        """Return the position of a value."""
        return round(self.left + (value - self.low) / (self.high - self.low) * PLOT, 1)


def overview(view: View) -> str:
    """Return the means, a panel a metric, correlations with people and signatures, as HTML.

    One row has no means: only its signatures are returned.
    """
    panels = "".join(_panel(label, view) for label in list(view.results)[:PANELS])
    left_out = len(view.results) - PANELS
    more = f"<p>{left_out} more metrics are in the table only.</p>" if left_out > 0 else ""
    signatures = "".join(
        f"<li><code>{escape(text)}</code></li>"
        for text in dict.fromkeys(result.signature.text for result in view.results.values())
    )
    many = (
        f"<div class='gm-tables'>{_means(view)}{_correlations(view)}</div>"
        f"<div class='gm-panels'>{panels}</div>{more}"
    )
    return (
        f"{many if len(view.examples) > 1 else ''}"
        f"<details class='gm-signatures'><summary>Signatures: what decides the numbers</summary>"
        f"<ul>{signatures}</ul></details>"
    )


def dots(result: MetricResult, view: View) -> list[Dot]:
    """Return the mean of every system, best first; without systems, the mean of all rows."""
    groups: dict[str, list[int]] = {name: [] for name in system_names(view.examples)}
    for at, example in enumerate(view.examples):
        if example.system:
            groups[example.system].append(at)
    if len(groups) < 2:
        return [Dot(next(iter(groups), "all rows"), result.mean, result.low, result.high, result.n)]
    found = []
    for name, rows in groups.items():
        documents = [view.examples[at].doc_id for at in rows]
        own = MetricResult.of(result.signature, [result.scores[at] for at in rows], documents)
        found.append(Dot(name, own.mean, own.low, own.high, own.n))
    return sorted(found, key=lambda dot: math.inf if math.isnan(dot.mean) else -dot.mean)


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """Return a table without inline styles, which the page's content security policy refuses."""

    def line(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    titled = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "".join(line("td", row) for row in rows)
    return f"<table>{titled}<thead>{line('th', headers)}</thead><tbody>{body}</tbody></table>"


def values_table(view: View, shown: Sequence[int], *, most: int) -> str:
    """Return the values of the first rows: what is seen where no script runs."""
    rows = [
        (view.examples[at].id, *(number_text(result.scores[at].value) for result in view.results.values()))
        for at in shown[:most]
    ]
    caption = f"{len(rows)} of {len(view.examples):,} rows"
    return table(["id", *view.results], rows, caption=caption)


def _means(view: View) -> str:
    rows = [
        (
            label,
            number_text(result.mean),
            f"[{number_text(result.low)}, {number_text(result.high)}]",
            f"{result.n:,}",
            f"{result.n_undefined:,}",
        )
        for label, result in view.results.items()
    ]
    return table(["metric", "mean", "95 % interval", "n", "undefined"], rows, caption="Means over all rows")


def _correlations(view: View) -> str:
    """Return Pearson's r of every metric with every quality that people judged, over all rows."""
    dimensions = judged_dimensions(view.human)
    if not dimensions:
        return ""
    rows = [
        (label, *(_pearson(result, view.human, name) for name in dimensions))
        for label, result in view.results.items()
    ]
    caption = "Pearson's r with human scores (rows)"
    return table(["metric", *dimensions], rows, caption=caption)


def _pearson(result: MetricResult, human: Sequence[Mapping[str, float]], dimension: str) -> str:
    pairs = [
        (score.value, judged[dimension])
        for score, judged in zip(result.scores, human, strict=True)
        if dimension in judged and math.isfinite(score.value)
    ]
    values, judgements = zip(*pairs, strict=True) if pairs else ((), ())
    r = pearson(values, judgements)
    return UNDEFINED if math.isnan(r) else f"{r:+.2f} ({len(pairs)})"


def _panel(label: str, view: View) -> str:
    """Return a drawing: a dot and an interval a system, and below them how the values are distributed."""
    result = view.results[label]
    values = np.array([score.value for score in result.scores if math.isfinite(score.value)])
    if not len(values):
        return f"<figure><figcaption>{escape(label)}</figcaption><p>No row has a value.</p></figure>"
    found = dots(result, view)
    shown = found[:SYSTEMS]
    height = LINE * len(shown) + BARS + 34
    longest = min(LONGEST, max(len(dot.name) for dot in shown))
    axis = Axis(LEFT + CHARACTER * max(0, longest - LABEL), *_domain(values))
    lines = "".join(_dot(dot, LINE * (at + 0.5) + 4, axis) for at, dot in enumerate(shown))
    bars = _bars(values, axis, height - 22)
    ticks = "".join(
        f"<line class='gm-grid' x1='{axis.x(tick)}' x2='{axis.x(tick)}' y1='0' y2='{height - 22}'/>"
        f"<text class='gm-tick' x='{axis.x(tick)}' y='{height - 6}'>{tick:.3g}</text>"
        for tick in np.linspace(axis.low, axis.high, 5).round(4).tolist()
    )
    left_out = len(found) - len(shown)
    rest = f" The {left_out} systems with the lowest means are left out." if left_out else ""
    said = "; ".join(f"{dot.name} {number_text(dot.mean)}" for dot in shown)
    return (
        f"<figure><figcaption>{escape(label)}</figcaption>"
        f"<svg viewBox='0 0 {axis.width} {height}' role='img' aria-label='{escape(f'{label}: {said}')}'>"
        f"{ticks}{lines}{bars}</svg><p class='gm-small'>Dot: mean with 95 % interval. Bars: number of rows."
        f"{rest}</p></figure>"
    )


def _dot(dot: Dot, y: float, axis: Axis) -> str:
    said = f"{dot.name}: {number_text(dot.mean)} [{number_text(dot.low)}, {number_text(dot.high)}], n {dot.n}"
    text = f"<text class='gm-name' x='{axis.left - 10}' y='{y + 4}'>{escape(plain(dot.name, LONGEST))}</text>"
    if math.isnan(dot.mean):
        return f"<g><title>{escape(said)}</title>{text}</g>"
    known = not math.isnan(dot.low)
    ends = f"x1='{axis.x(dot.low)}' x2='{axis.x(dot.high)}'" if known else ""
    interval = f"<line class='gm-interval' {ends} y1='{y}' y2='{y}'/>" if known else ""
    circle = f"<circle class='gm-dot' cx='{axis.x(dot.mean)}' cy='{y}' r='5'/>"
    return f"<g><title>{escape(said)}</title>{text}{interval}{circle}</g>"


def _bars(values: NDArray[np.float64], axis: Axis, bottom: int) -> str:
    counts, _ = np.histogram(values, bins=BINS, range=(axis.low, axis.high))
    step = PLOT / BINS
    most = max(int(counts.max()), 1)
    return f"<text class='gm-name' x='{axis.left - 10}' y='{bottom - 4}'>rows</text>" + "".join(
        f"<rect class='gm-bar' x='{axis.left + at * step + 0.5:.1f}' y='{bottom - BARS * count / most:.1f}'"
        f" width='{step - 1:.1f}' height='{BARS * count / most:.1f}'><title>{count} rows</title></rect>"
        for at, count in enumerate(counts.tolist())
        if count
    )


def _domain(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of an axis: 0 and 1 if all values are between, else round numbers about them."""
    low, high = float(values.min()), float(values.max())
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-9))) or 1.0
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return (low, high) if high > low else (low - 0.5, low + 0.5)
