"""HTML tables for notebooks."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """Return an HTML table; the first column is left-aligned, the others are right-aligned.

    >>> html_table(["id", "rouge"], [["<a>", "0.500"]]).count("&lt;a&gt;")
    1
    """
    head = _row("th", headers)
    body = "".join(_row("td", row) for row in rows)
    titled = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{titled}<thead>{head}</thead><tbody>{body}</tbody></table>"


def _row(tag: str, cells: Sequence[str]) -> str:
    sides = ["left"] + ["right"] * (len(cells) - 1)
    inside = "".join(
        f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>'
        for side, cell in zip(sides, cells, strict=True)
    )
    return f"<tr>{inside}</tr>"
