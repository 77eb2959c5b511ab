"""Newlines: those that end a line of a hard-wrapped text, and those that end a sentence."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

LINES = "\n\r\v\f\x85\u2028\u2029"
CLOSERS = r"[\"'”’»›)\]}」』）】]"
BREAK = re.compile(rf"(?:\r\n|[{LINES}])(\s*+)")
"""A newline and the white space after it, which is the group."""

TITLE = re.compile(
    "mrs?|ms|mme|messrs|drs?|prof|rev|fr|st|gen|col|lt|maj|capt|cmdr|cpl|sgt|pvt|adm|brig|gov|sens?|reps?|hon"
    r"|pres|supt|insp|det|vs?|cf|viz|e\.g|i\.e"
)
"""Abbreviations, in lower case, whose full stop never ends a sentence."""

_CLOSED = re.compile(rf"(?:\s|{CLOSERS})+\Z")
_LAST_WORD = re.compile(r"[^\W\d_][\w.]*\Z")
_ITEM = re.compile(r"[-–—•*·]\s|\d{1,3}[.)]\s|[^\s:]{1,40}:\s")  # of a list, or a speaker's turn
_STOP_INSIDE = re.compile(rf"(?:\s|[^\W\d_]{{4}})[.!?…]{CLOSERS}*\s+\S")
# Words that rarely end a sentence: one at the end of a line shows that the line was wrapped.
_GOES_ON = re.compile(
    "a|an|the|of|and|or|but|nor|at|on|from|with|by|for|to|into|onto|than|as|if|its|their|my|our|your|whose|which"
    "|who|that|is|was|were|are|be|been|has|had|have|will|would|can|could|may|might|must|should|not"
)


@cache
def stop_characters() -> frozenset[str]:
    """Return the characters that end a sentence: spaCy's, in over a hundred scripts, and the ellipsis."""
    from spacy.pipeline import Sentencizer

    return frozenset(Sentencizer.default_punct_chars) | {"…"}


def paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the paragraphs, which empty lines separate."""
    empty = [found.end() for found in BREAK.finditer(text) if BREAK.search(found[1])]
    yield from pairwise([0, *empty, len(text)])


def unwrap(text: str) -> str:
    r"""Return the text with spaces for the newlines that only wrap lines; every character keeps its place.

    Two things show that a newline wraps a line. The next line goes on in lower case after a line without a
    stop, in a paragraph with capitals. Or the whole paragraph is filled: each line is so long that the next
    word would not fit, and something shows that sentences run over the ends of lines.

    >>> unwrap("The boat left the harbour at\nNoon Town. Nobody saw it.\n\nThe end")
    'The boat left the harbour at Noon Town. Nobody saw it.\n\nThe end'
    """
    if not BREAK.search(text):
        return text
    return "".join(_unwrap_paragraph(text[start:end]) for start, end in paragraphs(text))


def _unwrap_paragraph(text: str) -> str:
    body = text.strip()
    head = text.index(body)
    breaks = list(BREAK.finditer(body))
    edges = [0, *(edge for found in breaks for edge in found.span()), len(body)]
    lines = [body[start:end].strip() for start, end in zip(edges[::2], edges[1::2], strict=True)]
    cased = not body.islower()
    filled = _is_filled(lines) and _sentences_run_over(lines, cased)
    parts = [text[:head], body[: edges[1]]]
    for index, found in enumerate(breaks):
        goes_on = cased and lines[index + 1][:1].islower() and not _stops(lines[index])
        parts.append(" " * len(found[0]) if filled or goes_on else found[0])
        parts.append(body[found.end() : edges[2 * index + 3]])
    return "".join(parts) + text[head + len(body) :]


def _is_filled(lines: list[str]) -> bool:
    """Whether no line but the last has room for the first word of the next line."""
    width = max(map(len, lines))
    starts = ((line.split(maxsplit=1) or [""])[0] for line in lines[1:])
    return not all(map(_ITEM.match, lines)) and all(
        len(line) + 1 + len(start) > width for line, start in zip(lines, starts, strict=False)
    )


def _sentences_run_over(lines: list[str], cased: bool) -> bool:
    """Whether a sentence ends inside a line, or a line ends inside a sentence."""
    open_lines = [line for line in lines[:-1] if not _stops(line)]
    if any(map(_STOP_INSIDE.search, lines)) or any(
        _GOES_ON.fullmatch(_last_word(line)) for line in open_lines
    ):
        return True
    return cased and bool(open_lines) and _stops(lines[-1])


def _stops(line: str) -> bool:
    """Whether a line ends with a stop that is not an abbreviation's."""
    end = _CLOSED.sub("", line[-20:])
    if end[-1:] not in stop_characters():
        return False
    word = _last_word(end[:-1])
    return not (end.endswith(".") and (len(word) == 1 or TITLE.fullmatch(word)))


def _last_word(line: str) -> str:
    found = _LAST_WORD.search(line[-20:])
    return found[0].lower() if found else ""
