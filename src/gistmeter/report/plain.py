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
    shown = (c if c.isprintable() or c.isspace() else _placeholder(c) for c in start)
    line = " ".join("".join(shown).split())
    return line if len(line) <= width and start == text else line[: width - 1].rstrip() + "…"


def _placeholder(character: str) -> str:
    # Format characters join emoji and turn the writing direction; the rest are controls and surrogates.
    return "" if unicodedata.category(character) == "Cf" else "\ufffd"
