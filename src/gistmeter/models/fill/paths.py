"""Whether a greedy prediction equals the gold text, decided from one teacher-forced pass.

The arg-max at each position of the gold text is what greedy decoding would choose, as long as it has chosen
the gold tokens so far. Where it first leaves them, the text either ends (a sentinel or the end is predicted),
or it cannot become the gold text any more, or it still may: other case, other sub-words. Only the last kind
has to be decoded on.
"""

from dataclasses import dataclass, field

from gistmeter.models.fill.positions import CUT, Decode, PositionPredictions, same_text
from gistmeter.models.fill.protocol import Fill

MORE = 6
"""How many tokens longer than the gold text a prediction may get."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What ends a prediction, and how it is compared.

    Args:
        stops: Tokens that end a prediction: sentinels, the end of the text, padding.
        decode: Turns token ids into text; what a sequence begins with decides what its text begins with.
    """

    stops: frozenset[int]
    decode: Decode


@dataclass(slots=True, eq=False)
class Path:
    """The greedy prediction of one blank, as far as it is known.

    Args:
        row: Which sequence of the batch it belongs to.
        prefix: What the decoder reads before the prediction.
        gold: The tokens of the blank.
        rules: What ends a text, and how tokens are decoded.
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
        """Read the prediction off a teacher-forced pass, until it leaves the gold text or ends.

        Args:
            readings: Of the pass.
            start: The position that predicts the first token of the blank.
        """
        for at, gold in enumerate((*self.gold, None), start):
            self.add(readings.predicted[at], readings.predicted_probabilities[at])
            if readings.predicted[at] != gold:
                return

    def add(self, token: int, probability: float) -> None:
        """Take the next token of the prediction, and close the path if that decides it."""
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
        """Return what is known of the blank, whose first token was predicted at position `start`."""
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
    """Tell whether a text that begins so can still become the target, under lower-casing.

    >>> may_become("The", "there"), may_become("They", "there")
    (True, False)
    """
    # How a sigma is lower-cased depends on whether more follows.
    begun, whole = (text.lower().replace("ς", "σ") for text in (part.rstrip(CUT), target))
    return whole.startswith(begun)
