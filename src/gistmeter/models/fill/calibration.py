"""Queries over the calibration texts, for fillers."""

from collections.abc import Callable, Sequence

from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.calibration import pairs
from gistmeter.models.run.tokens import Tokens

Tokenize = Callable[[Sequence[str]], list[Tokens]]


def queries(tokenize: Tokenize, room: int, *, every: int, check: bool = False) -> list[Query]:
    """Return queries with a blank of one token each, in either text of each pair.

    Args:
        tokenize: Cuts texts into a filler's tokens.
        room: Most tokens of a text.
        every: Distance of the blanks, in tokens.
        check: Those to check with, instead of those to calibrate with.
    """
    found = []
    for pair in pairs(check=check):
        candidate, source = (tokens.ids[:room] for tokens in tokenize(pair))
        for text, other, first in ((candidate, source, True), (source, candidate, False)):
            blanks = [(at, at + 1) for at in range(0, len(text), every)]
            found += [Query(text, (blank,), other, context_first=first) for blank in blanks]
    return found
