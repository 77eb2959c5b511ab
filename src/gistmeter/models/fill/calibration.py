"""Creates filler queries on the calibration texts."""

from collections.abc import Callable, Sequence

from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.calibration import pairs
from gistmeter.models.run.tokens import Tokens

Tokenize = Callable[[Sequence[str]], list[Tokens]]


def queries(tokenize: Tokenize, room: int, *, every: int, check: bool = False) -> list[Query]:
    """Return queries with one single-token blank each, for both texts of each pair.

    Args:
        tokenize: Tokenizes texts with the tokenizer of the filler.
        room: Maximum number of tokens per text.
        every: The distance between blanks, in tokens.
        check: Whether to use the texts for checking instead of those for calibration.
    """
    found = []
    for pair in pairs(check=check):
        candidate, source = (tokens.ids[:room] for tokens in tokenize(pair))
        for text, other, first in ((candidate, source, True), (source, candidate, False)):
            blanks = [(at, at + 1) for at in range(0, len(text), every)]
            found += [Query(text, (blank,), other, context_first=first) for blank in blanks]
    return found
