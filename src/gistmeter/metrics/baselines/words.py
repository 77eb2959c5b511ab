"""The words that length ratio, novelty and extractiveness count: simple, fixed, for any script."""

import re
import unicodedata
from typing import NamedTuple

TOKENIZER = "words-1"

# Han and kana are written without spaces between words: each character counts as one.
_UNSPACED = (
    "\u3005\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_PIECE = re.compile(rf"(?P<unspaced>[{_UNSPACED}])|(?P<word>[^\W{_UNSPACED}]+)|(?P<sign>[^\w\s])")
_JOINERS = "\u200c\u200d"


class Word(NamedTuple):
    """A word or a punctuation mark.

    Args:
        key: What is compared: lower-cased, composed (NFC).
        start: First character in the user's text.
        end: One past the last character.
    """

    key: str
    start: int
    end: int


def words(text: str, *, punctuation: bool) -> list[Word]:
    r"""Cut a text into words.

    A word is a run of letters, digits and underscores (`\w`), with the combining marks that follow
    them; a Han or kana character is a word of its own. Any other visible character is a punctuation
    mark, emoji included. Apostrophes and hyphens therefore cut: `don't` is `don`, `'`, `t`. White
    space, control and format characters are nothing.

    Args:
        text: Of any length and script.
        punctuation: Whether punctuation marks count as words.

    Returns:
        The words in order, with their places in the text.

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
