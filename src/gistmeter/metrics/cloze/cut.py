"""What of a document and a text fits into a model's window."""

from gistmeter.models.fill.protocol import Filler


def fit(context: int, text: int, blanks: int, filler: Filler) -> tuple[int, int]:
    """Return how many tokens of document and text a filler can read in a query with some blanks."""
    if filler.window is None:
        return context, text
    if not filler.separate_windows:
        return longest_first(context, text, filler.window - filler.overhead(blanks))
    half = max(0, filler.window - filler.overhead(blanks) // 2)
    return min(context, half), min(text, half)


def longest_first(context: int, text: int, room: int | None) -> tuple[int, int]:
    """Return how many tokens of document and text are kept: the longer loses its tail first.

    As in the authors' code, the document gives way where both are equally long.

    Args:
        context: Tokens of the document.
        text: Tokens of the sentence or summary.
        room: Most tokens for both; None for no limit.

    Returns:
        The tokens kept of the document, and of the text.

    >>> longest_first(900, 40, 508), longest_first(900, 300, 507), longest_first(20, 600, 508)
    ((468, 40), (253, 254), (20, 488))
    """
    if room is None or context + text <= room:
        return context, text
    room = max(0, room)
    kept = min(text, max(room - context, room - room // 2))
    return min(context, room - kept), kept
