"""The one cleaner of text for a terminal: labels, file names and messages on one line, without escapes."""

import unicodedata

LONG = 10_000


def plain(text: str, width: int = LONG) -> str:
    r"""Return a text on one line, without characters that move the cursor, cut to a width.

    Control characters, lone surrogates and unassigned characters become U+FFFD; characters that only
    format, such as those that turn the writing direction, are left out.

    >>> plain("speed\x1b[31m\n red").encode("ascii", "backslashreplace")
    b'speed\\ufffd[31m red'
    """
    start = text[: 4 * width]
    line = " ".join(harmless(start).split())
    return line if len(line) <= width and start == text else line[: width - 1].rstrip() + "…"


def harmless(text: str) -> str:
    """Return a text without characters that move the cursor; white space of every kind becomes a space."""
    return "".join(" " if c.isspace() else c if c.isprintable() else _placeholder(c) for c in text)


def _placeholder(character: str) -> str:
    # Format characters join emoji and turn the writing direction; the rest are controls and surrogates.
    return "" if unicodedata.category(character) == "Cf" else "\ufffd"
