"""Truncate document and text to the model's window (section 4.3.4)."""

from gistmeter.models.fill.protocol import Filler


def fit(context: int, text: int, blanks: int, filler: Filler, most: int = 0) -> tuple[int, int]:
    """Return the number of document tokens and of text tokens that fit into a query.

    Args:
        context: Tokens of the document.
        text: Tokens of the sentence or summary.
        blanks: Blanks in the query.
        filler: Model whose window limits the query.
        most: Smaller window to use instead of the model's; 0 for the model's.
    """
    limits = [limit for limit in (filler.window, most or None) if limit is not None]
    window = min(limits, default=None)
    if window is None:
        return context, text
    if not filler.separate_windows:
        return longest_first(context, text, window - filler.overhead(blanks))
    half = max(0, window - filler.overhead(blanks) // 2)
    return min(context, half), min(text, half)


def longest_first(context: int, text: int, room: int | None) -> tuple[int, int]:
    """Return the token counts after truncating the longer sequence first, at its end.

    If both are equally long, the document is truncated, as in the authors' code.

    Args:
        context: Tokens of the document.
        text: Tokens of the sentence or summary.
        room: Maximum number of tokens for both together; None for no limit.

    Returns:
        Number of tokens kept of the document, and of the text.

    >>> longest_first(900, 40, 508), longest_first(900, 300, 507), longest_first(20, 600, 508)
    ((468, 40), (253, 254), (20, 488))
    """
    if room is None or context + text <= room:
        return context, text
    room = max(0, room)
    kept = min(text, max(room - context, room - room // 2))
    return min(context, room - kept), kept
