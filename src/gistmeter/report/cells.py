"""Format numbers, labels and tables as text for a terminal."""

import math
import re
import textwrap
from collections.abc import Iterable, Sequence

from tabulate import tabulate

from gistmeter.report.plain import plain

UNDEFINED = "—"
LABEL = 26
"""Characters per line of a label."""


def number_text(value: float | None) -> str:
    """Return a number with three decimals, or with an exponent if it is below 0.0005.

    >>> number_text(0.25), number_text(0.0001), number_text(float("nan"))
    ('0.250', '1.0e-04', '—')
    """
    if value is None or math.isnan(value):
        return UNDEFINED
    return f"{value:.1e}" if 0 < abs(value) < 0.0005 else f"{value:.3f}"


def signed_text(value: float | None) -> str:
    """Return a number with its sign and three decimals."""
    return UNDEFINED if value is None else f"{value:+.3f}"


def probability_text(p: float | None) -> str:
    """Return a p-value with three decimals, or `<.001`."""
    if p is None:
        return UNDEFINED
    return "<.001" if p < 0.001 else f"{p:.3f}"


def wrapped(label: str, width: int = LABEL) -> str:
    """Wrap a label, preferably between its options; tabulate supports cells with several lines."""
    parts = re.sub(r"(?<=[:,/])", "\t", plain(label))
    lines = textwrap.wrap(parts, width, expand_tabs=False, replace_whitespace=False, break_on_hyphens=False)
    return "\n".join(line.replace("\t", "") for line in lines)


def aligned_table(headers: Sequence[str], rows: Iterable[Sequence[str]], aligned: Sequence[str] = ()) -> str:
    """Return a table; by default, the first column is left-aligned, the others are right-aligned."""
    filled = list(rows)
    aligned = aligned or ["left"] + ["right"] * (len(headers) - 1)
    text = tabulate(filled, headers, "simple", disable_numparse=True, colalign=aligned) if filled else ""
    return "\n".join(line.rstrip() for line in text.splitlines())


def joined(*texts: str) -> str:
    """Join the texts that are not empty with blank lines."""
    return "\n\n".join(text for text in texts if text)
