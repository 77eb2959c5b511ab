"""Compared systems as tables: plain text, Markdown, LaTeX or HTML."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Literal

from tabulate import tabulate

from gistmeter.report.cells import UNDEFINED, joined, number_text, probability_text, signed_text, wrapped
from gistmeter.report.plain import plain

Figures = Mapping[str, Any]
Style = Literal["simple", "pipe", "latex_booktabs", "html"]
MEANS = ("metric", "rank", "system", "mean", "95 % interval", "n", "undef", "documents")
PAIRS = ("metric", "A", "B", "A − B", "95 % interval", "p", "Holm", "", "d", "A wins", "detectable", "n")
LEGEND = (
    "rank: systems of one rank cannot be told apart for certain",
    "A − B: mean difference on the rows of both; its interval: paired bootstrap, documents drawn",
    "p: paired permutation test, documents exchanged; Holm: p corrected for all pairs of the metric",
    "*: Holm is below .05, the interval leaves out 0, and there are at least ten documents",
    "d: Cohen's d of the documents' differences; A wins: share of documents in which A is above B",
    "detectable: the true difference that as many documents show in 80 % of tests",
)


def comparison_text(
    systems: Sequence[Figures],
    pairs: Sequence[Figures],
    warnings: Sequence[str],
    said: Sequence[str],
    *,
    style: Style = "simple",
) -> str:
    """Lay out compared systems: their means, the differences, what to keep in mind, and sentences.

    Args:
        systems: Of a `Comparison`.
        pairs: Of the same.
        warnings: Lines that come after the tables.
        said: Sentences to paste.
        style: Of tabulate.
    """
    tables = [
        _styled(MEANS, [_mean(row) for row in systems], "lrl", style),
        _styled(PAIRS, [_pair(row) for row in pairs], "lll", style),
    ]
    signatures = dict.fromkeys(row["signature"] for row in systems if row["signature"])
    lists = [LEGEND, [f"warning: {warning}" for warning in warnings], said, list(signatures)]
    return joined(*tables, *(_lines(texts, style) for texts in lists if texts)) + "\n"


def _mean(row: Figures) -> list[str]:
    shown = [row["metric"], str(row["rank"]), row["system"], number_text(row["mean"])]
    counts = [f"{row[name]:,}" for name in ("n", "n_undefined", "documents")]
    return [*shown, _interval(row, number_text), *counts]


def _pair(row: Figures) -> list[str]:
    return [
        row["metric"],
        row["a"],
        row["b"],
        signed_text(row["difference"]),
        _interval(row, signed_text),
        probability_text(row["p_permutation"]),
        probability_text(row["p_holm"]),
        "*" if row["significant"] else "",
        UNDEFINED if row["effect"] is None else f"{row['effect']:+.2f}",
        UNDEFINED if row["wins"] is None else f"{row['wins']:.0%}",
        number_text(row["detectable"]),
        f"{row['n']:,}",
    ]


def _interval(row: Figures, shown: Callable[[float], str]) -> str:
    return UNDEFINED if row["low"] is None else f"[{shown(row['low'])}, {shown(row['high'])}]"


def _styled(headers: Sequence[str], rows: Sequence[Sequence[str]], left: str, style: Style) -> str:
    """Lay out rows; `left` says the sides of the first columns, the others stand to the right."""
    sides = [{"l": "left", "r": "right"}[side] for side in left]
    aligned = sides + ["right"] * (len(headers) - len(sides))
    cell = CELLS.get(style, plain)
    filled = [[cell(text) for text in row] for row in rows]
    heads = [cell(text) for text in headers]
    text = tabulate(filled, heads, style, disable_numparse=True, colalign=aligned if filled else None)
    return "\n".join(line.rstrip() for line in text.splitlines())


def _markdown(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\|*_`<[" else c for c in plain(text))


def _latex(text: str) -> str:
    return plain(text).replace("−", "-")  # tabulate escapes the rest


CELLS: dict[str, Callable[[str], str]] = {"simple": wrapped, "pipe": _markdown, "latex_booktabs": _latex}
"""What makes a text fit for a cell; tabulate escapes HTML by itself."""


def _lines(texts: Sequence[str], style: Style) -> str:
    shown = [plain(text) for text in texts]
    if style == "html":
        return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in shown) + "</ul>"
    if style == "latex_booktabs":
        return "\n".join(f"% {text}" for text in shown)
    return "\n".join(f"- {_markdown(text)}" for text in shown) if style == "pipe" else "\n".join(shown)
