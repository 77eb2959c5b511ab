"""Determines from one teacher-forced pass whether a greedy prediction equals the gold text.

As long as greedy decoding follows the gold tokens, its choice is the arg-max at each position of the gold
text. At the first different token there are three cases: the prediction ends (a sentinel or the end token),
it can no longer equal the gold text, or it still can (different case or sub-words). Only the third case needs
further decoding.
"""

from dataclasses import dataclass, field

from gistmeter.models.fill.positions import CUT, Decode, PositionPredictions, same_text
from gistmeter.models.fill.protocol import Fill

MORE = 6
"""Maximum number of tokens by which a prediction may exceed the gold text."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for ending and comparing predictions.

    Args:
        stops: Tokens that end a prediction: sentinels, the end token, padding.
        decode: Maps token ids to text; the text of a prefix must be a prefix of the text.
    """

    stops: frozenset[int]
    decode: Decode


@dataclass(slots=True, eq=False)
class Path:
    """The partial greedy prediction of one blank.

    Args:
        row: The index of its sequence in the batch.
        prefix: The decoder input before the prediction.
        gold: The gold tokens of the blank.
        rules: Rules for ending and comparing predictions.
    """

    row: int
    prefix: tuple[int, ...]
    gold: tuple[int, ...]
    rules: Rules
    predicted: list[int] = field(default_factory=list)
    probabilities: list[float] = field(default_factory=list)
    matches: bool = False
    complete: bool = False
    open: bool = True

    def follow(self, readings: PositionPredictions, start: int) -> None:
        """Take the prediction from a teacher-forced pass, until it differs from the gold text or ends.

        Args:
            readings: The predictions of the pass.
            start: The position that predicts the first token of the blank.
        """
        for at, gold in enumerate((*self.gold, None), start):
            self.add(readings.predicted[at], readings.predicted_probabilities[at])
            if readings.predicted[at] != gold:
                return

    def add(self, token: int, probability: float) -> None:
        """Add the next token of the prediction; close the path if the outcome is certain."""
        if token in self.rules.stops:
            self.matches = same_text(self.predicted, self.gold, self.rules.decode)
            self.open, self.complete = False, True
            return
        self.predicted.append(token)
        self.probabilities.append(probability)
        on_gold = tuple(self.predicted) == self.gold[: len(self.predicted)]
        fits = len(self.predicted) <= len(self.gold) + MORE
        self.open = fits and (
            on_gold or may_become(self.rules.decode(self.predicted), self.rules.decode(self.gold))
        )

    def fill(self, readings: PositionPredictions, start: int) -> Fill:
        """Return the fill of the blank, whose first token was predicted at position `start`."""
        gold = slice(start, start + len(self.gold))
        return Fill(
            predicted=tuple(self.predicted),
            matches=self.matches,
            predicted_probabilities=tuple(self.probabilities),
            gold_probabilities=tuple(readings.gold_probabilities[gold]),
            gold_ranks=tuple(readings.gold_ranks[gold]),
            complete=self.complete,
        )


def may_become(part: str, target: str) -> bool:
    """Return whether a text that begins with `part` can still equal the target, ignoring case.

    >>> may_become("The", "there"), may_become("They", "there")
    (True, False)
    """
    # The lowercase form of a sigma depends on its position in the word.
    begun, whole = (text.lower().replace("ς", "σ") for text in (part.rstrip(CUT), target))
    return whole.startswith(begun)
