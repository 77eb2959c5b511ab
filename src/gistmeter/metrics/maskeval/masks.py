"""Build masked sequences: blanked words in their window, plus the other text (sections 3.2 and 4.1)."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gistmeter.metrics.maskeval.tokenized import TokenizedText
from gistmeter.models.fill.protocol import Filler, Query

WINDOW = 24
"""Sub-words of its own text on either side of a blank."""
CUT = 512
"""Maximum number of sub-words of a masked sequence; smaller for models with a smaller window."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """Limits on the words blanked in one sequence.

    Args:
        words: Maximum number of words.
        spacing: Minimum number of sub-words between two blanked words.
    """

    words: int = 1
    spacing: int = WINDOW


ALONE = Sharing()
"""One sequence per word, as in the paper."""


@dataclass(slots=True)
class Stretch:
    """Range of sub-words of a text, with its blanks.

    Args:
        low: First sub-word.
        high: One past the last sub-word.
        words: Numbers of the blanked words, ascending.
    """

    low: int
    high: int
    words: list[int]


@dataclass(frozen=True, slots=True)
class Masked:
    """Masked sequences of one text of a pair.

    Args:
        queries: Inputs of the filler.
        words: For each query, the numbers of the blanked words.
        too_long: Numbers of the words that exceed the model's window on their own.
        kept: Smallest number of sub-words of the other text in any query.
        total: Number of sub-words of the other text.
    """

    queries: list[Query]
    words: list[list[int]]
    too_long: list[int]
    kept: int
    total: int


def cut_at(filler: Filler) -> int:
    """Return the maximum number of sub-words of a masked sequence, including special tokens."""
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
    """Build the masked sequences of a text, with the other text as context.

    Each sequence contains the window around its blanks and the longest prefix of the other text that fits.
    Runs in O(n) for n words.

    Args:
        tokenized: Text whose words are blanked.
        other: Other text of the pair.
        chosen: Numbers of the words to blank, ascending.
        filler: Model that defines input format and window.
        candidate: Whether `tokenized` is the candidate, which always comes first.
        sharing: Limits on the words blanked in one sequence.
    """
    room = cut_at(filler) - _around(filler, 1)
    fitting = [number for number in chosen if len(tokenized.words[number].tokens) <= room]
    too_long = [number for number in chosen if len(tokenized.words[number].tokens) > room]
    runs = stretches(tokenized, fitting, room=room, sharing=sharing)
    prefixes: dict[int, tuple[int, ...]] = {}  # by length; the queries of a text use only a few lengths
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
    """Return the number of tokens that the input format adds to a sequence.

    If both texts have separate windows, return the number for one of them.
    """
    overhead = filler.overhead(blanks)
    return overhead // 2 if filler.separate_windows else overhead


def stretches(
    tokenized: TokenizedText, chosen: Iterable[int], *, room: int, sharing: Sharing = ALONE
) -> list[Stretch]:
    """Distribute words over sequences.

    A word joins the earliest sequence that meets two conditions: its last blank is at least `spacing`
    sub-words before the word, and the extended range takes at most half of the room. With one word per
    sequence, each word gets the paper's window.

    Args:
        tokenized: Text whose words are blanked.
        chosen: Numbers of the words to blank, ascending; each fits into the room.
        room: Maximum number of sub-words of both texts in one sequence.
        sharing: Limits on the words blanked in one sequence.
    """
    found: list[Stretch] = []
    waiting: deque[Stretch] = deque()  # not full, ordered by the end of their last blank
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
    """Return the range of sub-words around a word; narrower if the model's window is small."""
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
