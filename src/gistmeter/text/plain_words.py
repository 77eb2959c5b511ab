"""Word tokenizer of the baselines and of copied sentences, for all scripts."""

import re
import unicodedata
from typing import NamedTuple

from gistmeter.core.language import UNSPACED, Languages

TOKENIZER = "words-1"
LANGUAGES = Languages(but=tuple(language for language in UNSPACED if language not in ("ja", "yue", "zh")))
"""The languages that it splits into words: those with spaces, and those in Han and kana."""

# Han and kana have no spaces between words: each character counts as a word.
_UNSPACED = (
    "\u3005\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_PIECE = re.compile(rf"(?P<unspaced>[{_UNSPACED}])|(?P<word>[^\W{_UNSPACED}]+)|(?P<sign>[^\w\s])")
_JOINERS = "\u200c\u200d"


class Word(NamedTuple):
    """Word or punctuation mark.

    Args:
        key: Text for comparisons: lower-cased, composed (NFC).
        start: First character in the user's text.
        end: One past the last character.
    """

    key: str
    start: int
    end: int


def words(text: str, *, punctuation: bool) -> list[Word]:
    r"""Split a text into words.

    A word is a sequence of letters, digits and underscores (`\w`) with their combining marks. Each Han or
    kana character is a separate word. Other visible characters, including emoji, are punctuation marks, so
    apostrophes and hyphens separate words: `don't` is `don`, `'`, `t`. White space, control and format
    characters are ignored.

    Args:
        text: Text of any length and script.
        punctuation: Whether punctuation marks count as words.

    Returns:
        Words in order, with their offsets in the text.

    >>> [word.key for word in words("Don't stop!", punctuation=True)]
    ['don', "'", 't', 'stop', '!']
    >>> [word.key for word in words("हिन्दी 日本", punctuation=False)]
    ['हिन्दी', '日', '本']
    """
    pieces: list[tuple[str, int, int]] = []
    joined = False  # the last piece ends in a combining mark or a joiner
    for match in _PIECE.finditer(text):
        kind, (start, end) = str(match.lastgroup), match.span()
        last_kind, last_start, last_end = pieces[-1] if pieces else ("", 0, -1)
        joining = kind == "sign" and _joins(match.group())
        if last_end == start and (joining or (joined and kind == last_kind == "word")):
            pieces[-1] = (last_kind, last_start, end)
        elif not joining and (kind != "sign" or unicodedata.category(match.group()) not in ("Cc", "Cf")):
            pieces.append((kind, start, end))
        joined = joining
    return [
        Word(_key(text[start:end]), start, end)
        for kind, start, end in pieces
        if punctuation or kind != "sign"
    ]


def _joins(sign: str) -> bool:
    return unicodedata.category(sign).startswith("M") or sign in _JOINERS


def _key(piece: str) -> str:
    lowered = piece.lower()
    return lowered if lowered.isascii() else unicodedata.normalize("NFC", lowered)
