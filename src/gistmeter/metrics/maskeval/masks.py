"""Words blanked in a window of their text, beside the other text (MaskEval, sections 3.2 and 4.1)."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gistmeter.metrics.maskeval.pieces import Piece
from gistmeter.models.filler import Filler, Query

WINDOW = 24
"""Sub-words that a blank sees on either side, in its own text."""
CUT = 512
"""Most sub-words of a masked sequence; a model with a smaller window takes fewer."""


@dataclass(slots=True)
class Stretch:
    """A run of a text with its blanks.

    Args:
        low: Its first sub-word.
        high: One past its last.
        words: Which words of the text are blanked, in order.
    """

    low: int
    high: int
    words: list[int]


@dataclass(frozen=True, slots=True)
class Masked:
    """The masked sequences of one text of a pair.

    Args:
        queries: What to ask the filler.
        words: For each query, the words it asks for, by their number in the text.
        too_long: Words that do not fit into the model's window even alone.
        kept: How many sub-words of the other text the query with the least room holds.
        total: How many sub-words the other text has.
    """

    queries: list[Query]
    words: list[list[int]]
    too_long: list[int]
    kept: int
    total: int


def cut_at(filler: Filler) -> int:
    """Return the most sub-words of a masked sequence, what the model's format adds included."""
    return CUT if filler.window is None else min(CUT, filler.window)


def mask_words(
    piece: Piece, other: Piece, chosen: Sequence[int], *, filler: Filler, candidate: bool, masks_per_pass: int
) -> Masked:
    """Blank words of a text, each seen from its window, and put the other text beside them.

    Of the other text, every sequence holds the longest prefix for which it has room. Costs O(n) for n words.

    Args:
        piece: The text to blank.
        other: The other text of the pair.
        chosen: Which words to blank, by their number in the text, ascending.
        filler: Whose format and window decide the cut.
        candidate: Whether `piece` is the candidate, which always stands first.
        masks_per_pass: Most words that one sequence blanks.
    """
    room = cut_at(filler) - filler.overhead(1)
    fitting = [number for number in chosen if len(piece.words[number].tokens) <= room]
    too_long = [number for number in chosen if len(piece.words[number].tokens) > room]
    runs = stretches(piece, fitting, room=room, masks_per_pass=masks_per_pass)
    prefixes: dict[int, tuple[int, ...]] = {}  # masks of one text share few cuts
    queries = []
    for run in runs:
        left = cut_at(filler) - filler.overhead(len(run.words)) - (run.high - run.low)
        kept = min(len(other.ids), max(0, left))
        if kept not in prefixes:
            prefixes[kept] = other.ids[:kept]
        text = piece.ids[run.low : run.high]
        queries.append(Query(text, _blanks(piece, run), prefixes[kept], context_first=not candidate))
    kept = min(prefixes, default=len(other.ids))
    return Masked(queries, [run.words for run in runs], too_long, kept, len(other.ids))


def stretches(piece: Piece, chosen: Iterable[int], *, room: int, masks_per_pass: int = 1) -> list[Stretch]:
    """Share words out among sequences, so that no blank lies within another one's window.

    A word joins the earliest sequence whose last blank lies 24 sub-words or more before it, and which then
    takes no more than half of the room. With one word a sequence, each gets the paper's window.

    Args:
        piece: The text.
        chosen: Which words to blank, ascending; each fits into the room.
        room: Most sub-words of both texts in one sequence.
        masks_per_pass: Most words that one sequence blanks.
    """
    found: list[Stretch] = []
    waiting: deque[Stretch] = deque()  # those that may still take a word, by the end of their last blank
    for number in chosen:
        low, high = _window(piece, number, room)
        while waiting and high - waiting[0].low > room // 2:
            waiting.popleft()
        if waiting and piece.words[number].first - piece.words[waiting[0].words[-1]].last > WINDOW:
            run = waiting.popleft()
            run.high = high
            run.words.append(number)
        else:
            run = Stretch(low, high, [number])
            found.append(run)
        if len(run.words) < masks_per_pass:
            waiting.append(run)
    return found


def _window(piece: Piece, number: int, room: int) -> tuple[int, int]:
    """Return the sub-words around a word, fewer on either side where the model's window is small."""
    word = piece.words[number]
    spare = room - len(word.tokens)
    before = min(word.first, WINDOW)
    after = min(len(piece.ids) - word.last - 1, WINDOW)
    after = min(after, max(spare // 2, spare - before))
    before = min(before, spare - after)
    return word.first - before, word.last + 1 + after


def _blanks(piece: Piece, run: Stretch) -> tuple[tuple[int, int], ...]:
    words = (piece.words[number] for number in run.words)
    return tuple((word.first - run.low, word.last + 1 - run.low) for word in words)
