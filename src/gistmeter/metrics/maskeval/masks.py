"""Words blanked in a window of their text, beside the other text (MaskEval, sections 3.2 and 4.1)."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gistmeter.metrics.maskeval.tokenized import TokenizedText
from gistmeter.models.fill.protocol import Filler, Query

WINDOW = 24
"""Sub-words that a blank sees on either side, in its own text."""
CUT = 512
"""Most sub-words of a masked sequence; a model with a smaller window takes fewer."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """How many words are blanked in one sequence.

    Args:
        words: The most.
        spacing: How many sub-words lie between two of them at least.
    """

    words: int = 1
    spacing: int = WINDOW


ALONE = Sharing()
"""A sequence for each word, as in the paper."""


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
    tokenized: TokenizedText,
    other: TokenizedText,
    chosen: Sequence[int],
    *,
    filler: Filler,
    candidate: bool,
    sharing: Sharing = ALONE,
) -> Masked:
    """Blank words of a text, each seen from its window, and put the other text beside them.

    Of the other text, every sequence holds the longest prefix for which it has room. Costs O(n) for n words.

    Args:
        tokenized: The text to blank.
        other: The other text of the pair.
        chosen: Which words to blank, by their number in the text, ascending.
        filler: Whose format and window decide the cut.
        candidate: Whether `tokenized` is the candidate, which always stands first.
        sharing: How many words one sequence blanks.
    """
    room = cut_at(filler) - _around(filler, 1)
    fitting = [number for number in chosen if len(tokenized.words[number].tokens) <= room]
    too_long = [number for number in chosen if len(tokenized.words[number].tokens) > room]
    runs = stretches(tokenized, fitting, room=room, sharing=sharing)
    prefixes: dict[int, tuple[int, ...]] = {}  # masks of one text share few cuts
    queries = []
    for run in runs:
        taken = 0 if filler.separate_windows else run.high - run.low
        left = cut_at(filler) - _around(filler, len(run.words)) - taken
        kept = min(len(other.ids), max(0, left))
        if kept not in prefixes:
            prefixes[kept] = other.ids[:kept]
        text = tokenized.ids[run.low : run.high]
        queries.append(Query(text, _blanks(tokenized, run), prefixes[kept], context_first=not candidate))
    kept = min(prefixes, default=len(other.ids))
    return Masked(queries, [run.words for run in runs], too_long, kept, len(other.ids))


def _around(filler: Filler, blanks: int) -> int:
    """Return what a model's format adds to a sequence: to each text, where each has a sequence of its own."""
    return filler.overhead(blanks) // (2 if filler.separate_windows else 1)


def stretches(
    tokenized: TokenizedText, chosen: Iterable[int], *, room: int, sharing: Sharing = ALONE
) -> list[Stretch]:
    """Share words out among sequences.

    A word joins the earliest sequence whose last blank lies far enough before it, and which then
    takes no more than half of the room. With one word a sequence, each gets the paper's window.

    Args:
        tokenized: The text.
        chosen: Which words to blank, ascending; each fits into the room.
        room: Most sub-words of both texts in one sequence.
        sharing: How many words one sequence blanks.
    """
    found: list[Stretch] = []
    waiting: deque[Stretch] = deque()  # those that may still take a word, by the end of their last blank
    for number in chosen:
        low, high = _window(tokenized, number, room)
        while waiting and high - waiting[0].low > room // 2:
            waiting.popleft()
        if (
            waiting
            and tokenized.words[number].first - tokenized.words[waiting[0].words[-1]].last > sharing.spacing
        ):
            run = waiting.popleft()
            run.high = high
            run.words.append(number)
        else:
            run = Stretch(low, high, [number])
            found.append(run)
        if len(run.words) < sharing.words:
            waiting.append(run)
    return found


def _window(tokenized: TokenizedText, number: int, room: int) -> tuple[int, int]:
    """Return the sub-words around a word, fewer on either side where the model's window is small."""
    word = tokenized.words[number]
    spare = room - len(word.tokens)
    before = min(word.first, WINDOW)
    after = min(len(tokenized.ids) - word.last - 1, WINDOW)
    after = min(after, max(spare // 2, spare - before))
    before = min(before, spare - after)
    return word.first - before, word.last + 1 + after


def _blanks(tokenized: TokenizedText, run: Stretch) -> tuple[tuple[int, int], ...]:
    words = (tokenized.words[number] for number in run.words)
    return tuple((word.first - run.low, word.last + 1 - run.low) for word in words)
