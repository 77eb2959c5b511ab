"""Find the sentences of a text that occur verbatim in its source."""

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from gistmeter.text.plain_words import Word, words

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
_SAME = {"\u2212": "-", "\u2013": "-", "#": "£"}
"""Older systems write # for £."""
_UNITS = ("%", "‰", "°", "#")
_WITHIN = (".", ",", ":", "/", "-", "\u2212", "\u2013")
"""Signs that count between two digits, also with spaces around them."""


def copied_from(sentences: Sequence[str], source: Sequence[str], *, parts: bool = True) -> list[int | None]:
    """Find sentences that occur verbatim in a source, whatever their case and punctuation.

    Signs of currency, percent and degrees count, and so do signs within numbers ("3.5", "3-5", "−5").
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
    """Return the words in lower case, each with a space behind it, and the signs that change a number."""
    kept = (word for word in words(sentence, punctuation=True) if _counts(sentence, word))
    return "".join(f"{_minus(sentence, word.start)}{_SAME.get(word.key, word.key)} " for word in kept)


def _counts(text: str, word: Word) -> bool:
    """Return whether a word or a punctuation mark decides what a sentence says."""
    sign = word.key[0]
    if sign.isalnum() or sign == "_" or _is_unit(sign):
        return True
    before = text[max(0, word.start - 2) : word.start].strip()[-1:]
    after = text[word.end : word.end + 2].strip()[:1]
    return sign in _WITHIN and before.isdigit() and after.isdigit()


def _is_unit(sign: str) -> bool:
    return sign in _UNITS or unicodedata.category(sign) == "Sc"


def _minus(text: str, at: int) -> str:
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
        end = at + len(wanted)
        starts_word = at == 0 or text[at - 1] == " "
        after = "" if end in starts else text[end:]
        torn = _tears(before[-2:-1], wanted[0]) or _tears(after[:1], wanted[-2])
        if starts_word and not torn and (_is_safe(before) if parts else not before and not after):
            return row
        at = text.find(wanted, at + 1)
    return None


def _tears(sign: str, word: str) -> bool:
    """Return whether a sign outside a part belongs to the number inside, as "$" to "5"."""
    return word.isdigit() and bool(sign) and not sign.isalnum()


def _is_safe(before: str) -> bool:
    return REPORTED.isdisjoint(before.split())
