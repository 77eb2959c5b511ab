"""Scores, pairs and correlations as text for a terminal."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from tabulate import tabulate

from gistmeter.core.example import Example
from gistmeter.core.result import ColumnResult, MetricResult
from gistmeter.core.score import Score, Span
from gistmeter.report.plain import plain

UNDEFINED = "—"
WIDTH = 100  # of one pair in detail
LABEL = 26  # characters on one line of a label
METRICS = 6  # side by side in a table of examples
DIMENSIONS = 4  # side by side in a table of correlations
NOTES = 20  # lines of them before the rest is only counted

Entries = Sequence[tuple[str, MetricResult | ColumnResult]]
Figures = Mapping[str, Any]
T = TypeVar("T")


def score_table(entries: Entries, *, examples_limit: int = 20) -> str:
    """Lay out what metrics say of the same examples.

    Up to `examples_limit` examples are shown one by one; an asterisk marks a value with a flag. Then come
    the means with their 95 % intervals, the flags and problems, and the signatures.

    Args:
        entries: (label, result) of each metric, over the same examples.
        examples_limit: With more examples only the summary is shown.

    >>> from gistmeter.core.signature import Signature
    >>> report = MetricResult.of(Signature.of("chrf", version=1), [Score("1", 0.75), Score("2", 0.5)])
    >>> print(score_table([("chrf", report)]))
    id      chrf
    ----  ------
    1      0.750
    2      0.500
    <BLANKLINE>
    metric      mean    95 % interval    n    undefined
    --------  ------  ---------------  ---  -----------
    chrf       0.625   [0.500, 0.750]    2            0
    <BLANKLINE>
    chrf|version=1
    """
    few = max((len(report.scores) for _, report in entries), default=0) <= examples_limit
    blocks = _blocks(entries, METRICS) if few else []
    notes = _notes(entries, by_row=few)
    signatures = dict.fromkeys(plain(report.signature.text) for _, report in entries)
    return _joined(*map(_examples, blocks), _summary(entries), notes, "\n".join(signatures))


def pair_text(label: str, score: Score, example: Example) -> str:
    """Lay out what a metric says of one pair: its figures, then the spans of each text in order.

    Args:
        label: What the metric is called.
        score: Of the example.
        example: Whose texts the spans lie in.
    """
    parts = ", ".join(f"{name} {_number(value)}" for name, value in score.parts.items())
    lines = {
        label: _number(score.value),
        "parts": parts,
        "flags": ", ".join(map(str, score.flags)),
        "problem": score.problem or "",
    }
    rows = [(plain(name), textwrap.fill(plain(text), 70)) for name, text in lines.items() if text]
    head = tabulate(rows, tablefmt="plain", disable_numparse=True)
    return _joined(head, *_span_tables(score.spans, example))


def benchmark_table(rows: Sequence[Figures]) -> str:
    """Lay out correlations: a table a task and level, a line a figure, a column a human dimension.

    Args:
        rows: As `gistmeter benchmark --json` writes them. Spearman and Kendall are left to that file.
    """
    tables: dict[tuple[str, str], list[Figures]] = {}
    for row in rows:
        tables.setdefault((row["task"], row["level"]), []).append(row)
    blocks = [
        f"{plain(task)}, {plain(level)} level: Pearson with 95 % interval\n\n{_correlations(table, block)}"
        for (task, level), table in tables.items()
        for block in _blocks(list(dict.fromkeys(row["dimension"] for row in table)), DIMENSIONS)
    ]
    return _joined(*blocks, "\n".join(dict.fromkeys(plain(row["signature"]) for row in rows)))


def _examples(entries: Entries) -> str:
    def cell(score: Score) -> str:
        return ("*" if score.flags else "") + _number(score.value)

    ids = [plain(score.id, LABEL) for score in entries[0][1].scores]
    columns = [[cell(score) for score in report.scores] for _, report in entries]
    headers = ["id", *(_wrapped(label, 16) for label, _ in entries)]
    return _table(headers, zip(ids, *columns, strict=True))


def _summary(entries: Entries) -> str:
    rows = [
        (
            _wrapped(label),
            _number(report.mean),
            f"[{_number(report.low)}, {_number(report.high)}]",
            str(report.n),
            str(report.n_undefined),
        )
        for label, report in entries
    ]
    return _table(["metric", "mean", "95 % interval", "n", "undefined"], rows)


def _notes(entries: Entries, *, by_row: bool) -> str:
    """Say which values have flags or problems: by their rows, or only how many."""
    ids: dict[tuple[str, str], list[str]] = {}
    for label, report in entries:
        for score in report.scores:
            for note in dict.fromkeys(_notes_on(score, whole=by_row)):
                ids.setdefault((note, label), []).append(score.id)
    labels: dict[tuple[str, str], list[str]] = {}
    for (note, label), rows in ids.items():
        where = plain(", ".join(rows), LABEL) if by_row else f"{len(rows)} row{'s' * (len(rows) > 1)}"
        labels.setdefault((note, where), []).append(label)
    lines = []
    for (note, where), names in labels.items():
        who = "all metrics" if len(names) == len(entries) else ", ".join(map(plain, names))
        lines.append(f"{note[0]} {where}: {note[1:]}" + (f" ({who})" if len(entries) > 1 else ""))
    rest = [f"… and {len(lines) - NOTES} more"] if len(lines) > NOTES else []
    return "\n".join(lines[:NOTES] + rest)


def _notes_on(score: Score, *, whole: bool) -> Iterator[str]:
    """Yield the mark and the text of each thing to know about a value."""
    if score.problem is not None:  # the problem of a row that could not be read repeats the row's name
        yield UNDEFINED + plain(score.problem.removeprefix(f"{score.id}: "), WIDTH)
    for flag in score.flags:
        yield "*" + plain(str(flag) if whole else flag.name + (f" ({flag.side})" if flag.side else ""))


def _span_tables(spans: Sequence[Span], example: Example) -> Iterator[str]:
    for side, index, text in example.texts():
        inside = [span for span in spans if (span.side, span.index) == (side, index)]
        has_notes = any(span.note for span in inside)
        width = (WIDTH - 11) // 2 if has_notes else WIDTH - 9
        rows = [
            (plain(text[span.start : span.end], width), _number(span.value), plain(span.note, width))
            for span in sorted(inside, key=lambda span: (span.start, span.end))
        ]
        if rows:
            headers = [f"{side} {index}" if side == "reference" else side, "value", "note"]
            columns = 3 if has_notes else 2
            yield _table(
                headers[:columns], [row[:columns] for row in rows], ["left", "right", "left"][:columns]
            )


def _correlations(rows: Sequence[Figures], dimensions: Sequence[str]) -> str:
    """Lay out one task and level, for as many dimensions as fit side by side."""
    lines: dict[tuple[str, str], dict[str, Figures]] = {}
    for row in rows:
        if row["dimension"] in dimensions:
            lines.setdefault((row["metric"], row["part"]), {})[row["dimension"]] = row
    cells = [
        (
            _wrapped(metric if part == "value" else f"{metric}/{part}"),
            *(_correlation(found.get(dimension)) for dimension in dimensions),
            _range(row["n"] for row in found.values()),
            _range(row["n_undefined"] for row in found.values()),
        )
        for (metric, part), found in lines.items()
    ]
    columns = 1 + len(dimensions) + (2 if any(row["n_undefined"] for row in rows) else 1)
    # "decimal" keeps the blanks that "right" would strip, in cells that are no bare numbers.
    aligned = ["left", *["decimal"] * len(dimensions), "right", "right"]
    headers = ["", *map(plain, dimensions), "n", "undef"]
    return _table(headers[:columns], [line[:columns] for line in cells], aligned[:columns])


def _correlation(row: Figures | None) -> str:
    """Return 18 characters, so that the numbers stand below each other; r is never above 1."""
    if row is None or row["pearson"] is None:
        return f"{UNDEFINED:>5}".ljust(18)
    ends = [UNDEFINED if end is None else f"{end:.2f}" for end in (row["low"], row["high"])]
    r, low, high = (text.replace("0.", ".", 1) for text in (f"{row['pearson']:.3f}", *ends))
    return f"{r:>5} " + f"[{low}, {high}]".ljust(12)


def _range(numbers: Iterable[int]) -> str:
    low, *_, high = sorted(numbers) * 2
    return str(low) if low == high else f"{low}–{high}"


def _number(value: float | None) -> str:
    """Return three decimals; an exponent where they would not show a small value."""
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return UNDEFINED
    return f"{value:.1e}" if 0 < abs(value) < 0.0005 else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:+.3f}"


def _probability(p: float | None) -> str:
    if p is None:
        return UNDEFINED
    return "<.001" if p < 0.001 else f"{p:.3f}"


def _wrapped(label: str, width: int = LABEL) -> str:
    """Break a label, where possible between its options; tabulate knows cells of several lines."""
    parts = re.sub(r"(?<=[:,/])", "\t", plain(label))
    lines = textwrap.wrap(parts, width, expand_tabs=False, replace_whitespace=False, break_on_hyphens=False)
    return "\n".join(line.replace("\t", "") for line in lines)


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]], aligned: Sequence[str] = ()) -> str:
    """Lay out rows; unless told otherwise, the first column to the left, the others to the right."""
    filled = list(rows)
    aligned = aligned or ["left"] + ["right"] * (len(headers) - 1)
    text = tabulate(filled, headers, "simple", disable_numparse=True, colalign=aligned) if filled else ""
    return "\n".join(line.rstrip() for line in text.splitlines())


def _blocks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
