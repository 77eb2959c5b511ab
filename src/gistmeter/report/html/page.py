"""Puts the page together: data, overview, style and script in one file that fetches nothing."""

import base64
import hashlib
from html import escape
from importlib.resources import files
from string import Template

from gistmeter.report.html.data import ROWS, View, packed, page_data, shown_rows
from gistmeter.report.html.overview import overview, values_table

MOST_BYTES = 4_500_000  # of the data; the file stays below 5 MB
FEW = 20  # rows of the table that is seen where no script runs


def page(view: View, *, title: str = "gistmeter report", rows: int = ROWS) -> str:
    """Return a whole HTML document.

    Its content security policy allows its own style and script and nothing else: no request leaves it.

    Args:
        view: Scores and texts.
        title: Of the document.
        rows: The most rows it holds; of more, evenly spaced ones are shown, and the page says so. Long texts
            may leave room for fewer.
    """
    style, script = asset("report.css"), asset("report.js")
    return Template(asset("page.html")).substitute(
        title=escape(title),
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
        body=body(view, rows=rows, title=title),
    )


def fragment(view: View, *, rows: int = ROWS) -> str:
    """Return the same view for a notebook: an element with its own style and script.

    Where the notebook is not trusted and no script runs, the overview and a table of values are seen.
    """
    style, script = asset("report.css"), asset("report.js")
    return f"<style>{style}</style>{body(view, rows=rows)}<script>{script}</script>"


def body(view: View, *, rows: int = ROWS, title: str = "") -> str:
    """Return the element that the style and the script of the report draw."""
    total = len(view.examples)
    shown = shown_rows(total, rows)
    data = packed(page_data(view, shown))
    while len(data) > MOST_BYTES and len(shown) > 1:
        shown = shown[::2]
        data = packed(page_data(view, shown))
    return Template(asset("body.html")).substitute(
        heading=f"<h1>{escape(title)}</h1>" if title else "",
        said=escape(_said(total, len(shown), len(view.results))),
        overview=overview(view),
        values=values_table(view, shown, most=FEW),
        data=data,
    )


def _said(total: int, shown: int, metrics: int) -> str:
    if total == 1:
        return ""
    rows = f"{total:,} row{'s' * (total != 1)}, {metrics} metric{'s' * (metrics != 1)}."
    if shown < total:
        rows += f" The overview counts all rows; below are {shown:,} of them, evenly spaced."
    return rows


def asset(name: str) -> str:
    """Return the text of a file: report.css or report.js."""
    return files(__package__).joinpath("assets", name).read_text("utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
