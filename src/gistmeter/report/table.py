"""Format scores, pairs and correlations as text for a terminal."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from tabulate import tabulate

from gistmeter.core.example import Example
from gistmeter.core.result import ColumnResult, MetricResult
from gistmeter.core.score import Score, Span
from gistmeter.report.cells import LABEL, UNDEFINED, aligned_table, joined, number_text, wrapped
from gistmeter.report.plain import plain

WIDTH = 100  # characters, of a span table
METRICS = 6  # metrics side by side in a table of examples
DIMENSIONS = 4  # dimensions side by side in a table of correlations
NOTES = 20  # notes shown; the others are counted

Entries = Sequence[tuple[str, MetricResult | ColumnResult]]
Figures = Mapping[str, Any]
T = TypeVar("T")


def score_table(entries: Entries, *, examples_limit: int = 20) -> str:
    """Format the results of metrics on the same examples.

    The text has the value of each example, with an asterisk if it has a flag; the means with their 95 %
    intervals; the flags and problems; and the signatures.

    Args:
        entries: (label, result) of each metric, on the same examples.
        examples_limit: The maximum number of examples for which single values are shown.

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
    return joined(*map(_examples, blocks), _summary(entries), notes, "\n".join(signatures))


def pair_text(label: str, score: Score, example: Example) -> str:
    """Format the score of one example: its value and components, then the spans of each text in order.

    Args:
        label: The name of the metric.
        score: The score of the example.
        example: The scored example.
    """
    parts = ", ".join(f"{name} {number_text(value)}" for name, value in score.parts.items())
    lines = {
        label: number_text(score.value),
        "parts": parts,
        "flags": ", ".join(map(str, score.flags)),
        "problem": score.problem or "",
    }
    rows = [(plain(name), textwrap.fill(plain(text), 70)) for name, text in lines.items() if text]
    head = tabulate(rows, tablefmt="plain", disable_numparse=True)
    return joined(head, *_span_tables(score.spans, example))


def benchmark_table(rows: Sequence[Figures]) -> str:
    """Format correlations: one table per task and level, one line per component, one column per dimension.

    Args:
        rows: The rows of `gistmeter benchmark --json`; Spearman and Kendall are only in that file.
    """
    tables: dict[tuple[str, str], list[Figures]] = {}
    for row in rows:
        tables.setdefault((row["task"], row["level"]), []).append(row)
    blocks = [
        f"{plain(task)}, {plain(level)} level: Pearson with 95 % interval\n\n{_correlations(table, block)}"
        for (task, level), table in tables.items()
        for block in _blocks(list(dict.fromkeys(row["dimension"] for row in table)), DIMENSIONS)
    ]
    return joined(*blocks, "\n".join(dict.fromkeys(plain(row["signature"]) for row in rows)))


def _examples(entries: Entries) -> str:
    def cell(score: Score) -> str:
        return ("*" if score.flags else "") + number_text(score.value)

    ids = [plain(score.id, LABEL) for score in entries[0][1].scores]
    columns = [[cell(score) for score in report.scores] for _, report in entries]
    headers = ["id", *(wrapped(label, 16) for label, _ in entries)]
    return aligned_table(headers, zip(ids, *columns, strict=True))


def _summary(entries: Entries) -> str:
    rows = [
        (
            wrapped(label),
            number_text(report.mean),
            f"[{number_text(report.low)}, {number_text(report.high)}]",
            str(report.n),
            str(report.n_undefined),
        )
        for label, report in entries
    ]
    return aligned_table(["metric", "mean", "95 % interval", "n", "undefined"], rows)


def _notes(entries: Entries, *, by_row: bool) -> str:
    """Return lines that list flags and problems, with the ids of their rows or only their number."""
    ids: dict[tuple[str, str], list[str]] = {}
    for label, report in entries:
        for score in report.scores:
            for note in dict.fromkeys(_notes_on(score, whole=by_row)):
                ids.setdefault((note, label), []).append(score.id)
    labels: dict[tuple[str, str], list[str]] = {}
    for (note, label), rows in ids.items():
        where = plain(", ".join(rows), LABEL) if by_row else _rows(len(rows))
        labels.setdefault((note, where), []).append(label)
    lines = []
    for (note, where), names in labels.items():
        who = "all metrics" if len(names) == len(entries) else ", ".join(map(plain, names))
        lines.append(f"{note[0]} {where}: {note[1:]}" + (f" ({who})" if len(entries) > 1 else ""))
    rest = [f"… and {len(lines) - NOTES} more"] if len(lines) > NOTES else []
    return "\n".join(lines[:NOTES] + rest)


def _notes_on(score: Score, *, whole: bool) -> Iterator[str]:
    """Yield a mark and a text for the problem and each flag of a score."""
    if score.problem is not None:  # the problem of an unreadable row starts with its id
        yield UNDEFINED + plain(score.problem.removeprefix(f"{score.id}: "), WIDTH)
    for flag in score.flags:
        yield "*" + plain(str(flag) if whole else flag.name + (f" ({flag.side})" if flag.side else ""))


def _span_tables(spans: Sequence[Span], example: Example) -> Iterator[str]:
    for side, index, text in example.texts():
        inside = [span for span in spans if (span.side, span.index) == (side, index)]
        has_notes = any(span.note for span in inside)
        width = (WIDTH - 11) // 2 if has_notes else WIDTH - 9
        rows = [
            (plain(text[span.start : span.end], width), number_text(span.value), plain(span.note, width))
            for span in sorted(inside, key=lambda span: (span.start, span.end))
        ]
        if rows:
            headers = [f"{side} {index}" if side == "reference" else side, "value", "note"]
            columns = 3 if has_notes else 2
            yield aligned_table(
                headers[:columns], [row[:columns] for row in rows], ["left", "right", "left"][:columns]
            )


def _correlations(rows: Sequence[Figures], dimensions: Sequence[str]) -> str:
    """Return the table of one task and level, for some of the dimensions."""
    lines: dict[tuple[str, str], dict[str, Figures]] = {}
    for row in rows:
        if row["dimension"] in dimensions:
            lines.setdefault((row["metric"], row["part"]), {})[row["dimension"]] = row
    cells = [
        (
            wrapped(metric if part == "value" else f"{metric}/{part}"),
            *(_correlation(found.get(dimension)) for dimension in dimensions),
            _range(row["n"] for row in found.values()),
            _range(row["n_undefined"] for row in found.values()),
        )
        for (metric, part), found in lines.items()
    ]
    columns = 1 + len(dimensions) + (2 if any(row["n_undefined"] for row in rows) else 1)
    # "decimal" keeps leading and trailing blanks of text cells, which "right" would strip.
    aligned = ["left", *["decimal"] * len(dimensions), "right", "right"]
    headers = ["", *map(plain, dimensions), "n", "undef"]
    return aligned_table(headers[:columns], [line[:columns] for line in cells], aligned[:columns])


def _correlation(row: Figures | None) -> str:
    """Format r and its interval in 18 characters, so that the numbers are aligned."""
    if row is None or row["pearson"] is None:
        return f"{UNDEFINED:>5}".ljust(18)
    ends = [UNDEFINED if end is None else f"{end:.2f}" for end in (row["low"], row["high"])]
    r, low, high = (text.replace("0.", ".", 1) for text in (f"{row['pearson']:.3f}", *ends))
    return f"{r:>5} " + f"[{low}, {high}]".ljust(12)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _range(numbers: Iterable[int]) -> str:
    found = list(numbers)
    low, high = min(found), max(found)
    return str(low) if low == high else f"{low}–{high}"


def _blocks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[at : at + size] for at in range(0, len(items), size)]
