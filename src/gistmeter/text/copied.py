"""Find the sentences that a text copies from its source word for word."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from gistmeter.text.plain_words import words

LEAST = 3
"""Minimum number of words of a copied sentence; fewer words stand in many sources by chance."""
REPORTED = frozenset(
    (
        *("that", "if", "whether", "unless", "without"),
        *("not", "t", "never", "no", "nobody", "none", "nothing", "neither", "nor"),
        *("deny", "denies", "denied", "denying", "false", "falsely"),
    )
)
"""Words after which a part of a sentence may say what the whole does not: "He denied that she resigned".
`t` is the end of "don't"."""
_MINUS = "-\u2212"


def copied_from(sentences: Sequence[str], source: Sequence[str], *, parts: bool = True) -> list[int | None]:
    """Find sentences that stand in a source word for word, whatever their case and punctuation.

    A whole sentence of the source counts. So does a part of one, or several in a row, unless a word of
    `REPORTED` stands before the part in its sentence.

    Args:
        sentences: Sentences to find.
        source: Sentences of the source, in order.
        parts: Whether parts of sentences count. `REPORTED` is English, so use False for other languages.

    Returns:
        For each sentence, the index of the source sentence in which the copy starts; None without a copy.

    >>> source = ["The mayor, 52, resigned on Monday.", "Nobody said that taxes will rise."]
    >>> copied_from(["the mayor, 52, resigned", "taxes will rise", "Mayor resigned on Monday"], source)
    [0, None, None]
    """
    said = [_words(sentence) for sentence in source]
    text = "".join(said)
    starts = [0, *accumulate(map(len, said))]
    return [_find(_words(sentence), text, starts, parts=parts) for sentence in sentences]


@lru_cache(maxsize=1 << 14)  # many candidates have the same source
def _words(sentence: str) -> str:
    """Return the words in lower case, each with a space behind it; a number keeps its minus."""
    found = words(sentence, punctuation=False)
    return "".join(f"{_sign(sentence, word.start)}{word.key} " for word in found)


def _sign(text: str, at: int) -> str:
    """Return `-` if a minus stands before a digit and after no word."""
    minus = at > 0 and text[at - 1] in _MINUS and text[at].isdigit()
    return "-" if minus and not text[max(0, at - 2) : at - 1].isalnum() else ""


def _find(wanted: str, text: str, starts: Sequence[int], *, parts: bool) -> int | None:
    if wanted.count(" ") < LEAST:
        return None
    at = text.find(wanted)
    while at >= 0:
        row = bisect_right(starts, at) - 1
        before = text[starts[row] : at]
        starts_word = at == 0 or text[at - 1] == " "
        if starts_word and (_is_safe(before) if parts else not before and at + len(wanted) in starts):
            return row
        at = text.find(wanted, at + 1)
    return None


def _is_safe(before: str) -> bool:
    return REPORTED.isdisjoint(before.split())
