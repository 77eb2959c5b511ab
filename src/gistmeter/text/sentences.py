"""Sentences, as they stand in what systems really put out.

spaCy says which characters end a sentence (its sentencizer's, in over a hundred scripts) and after which
words of a language a full stop is part of the word (its tokenizer's exceptions, and its stop words, which
begin the next sentence all the same). The rules here say the rest: which side a quote belongs to, what a
newline means, what to make of lower-cased and re-spaced text.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from itertools import pairwise

from gistmeter.core.language import NOT_CHECKED
from gistmeter.text.abbreviations import Abbreviations, abbreviations, likely_language
from gistmeter.text.words import Place
from gistmeter.text.wrapping import BREAK, CLOSERS, LINES, paragraphs, stop_characters, unwrap

SPLITTER = f"spacy-{version('spacy')}-en+rules-2"
"""What cuts English, for signatures; the last figure rises whenever a text would be cut elsewhere."""

LONGEST_ORDINAL = 4
"""A number with as many digits is a year."""
# A full stop that stands apart after one of these never ends a sentence.
_TITLE_APART = re.compile("mrs?|ms|mme|messrs|dr|prof|sgt|capt|sen|vs")
# Abbreviations only before a digit; those that spaCy lacks; words that its own look like in lower case.
_NUMBERED = re.compile("nos?|pp?|vol|figs?|art|sec|ch|eq|ver")
_OTHER = re.compile(r"al|approx|dept|est|ca|ed|esp|incl|sr|sq|tel|ph\.d")
_ALSO_WORD = re.compile("ill|mass|miss|wash|ore|ind|id|la|pa|mar|del|mo|kan|co")
# What may follow a full stop that lacks its space, unless it makes an address or the name of a file.
_NEXT_PART = re.compile(
    r"(?!(?:com|org|net|gov|edu|co|uk|io|me|tv|info|biz|eu|us|de|fr|au|ca|nz|ie|html?|php|aspx|txt|md|pdf|docx?"
    r"|xls|jpg|png|gif|mp|py|js|json|exe|zip)\b)[^\W\d_]{2,}+(?!\.\w)"
)

_OPENERS = r"[\"'“‘„«‹(\[{`¿¡「『（]|(?i:-l[rsc]b-)"
_EMOJI = "[\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff\ufe0f\u200d]"

_CLOSING = re.compile(
    rf"([^\S{LINES}]{{0,9}}+)(''|{CLOSERS}|[“‘«‹]|(?i:-r[rsc]b-))|[^\S{LINES}]?({_EMOJI}++)"
)
_BEFORE_NEXT = re.compile(rf"(?:\s|{_OPENERS})*+")
_LAST_WORD = re.compile(r"[^\s()\[\]\"“”`/–—-]+\Z")
_NEXT_WORD = re.compile(r"[^\W\d_]++(?!\.)")  # an initial is not the word A
_CAPITALISED = re.compile(r"[^\W\d_a-z][^\W\d_A-Z]|[AI]\s")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_SPELLED = re.compile(r"(?<!\w)[^\W\d_] \. [^\W\d_] \.")
_ELLIPSIS = re.compile(r"[.…\s]+")
_QUOTE = re.compile(r"``|''|[\"`]|'(?!(?:s|t|d|m|re|ve|ll|em|\d\ds?)\b)", re.IGNORECASE)
_NOTHING = re.compile(r"\s*+\Z")


def splitter_name(language: str) -> str:
    """Return what decides the cuts, for signatures.

    Args:
        language: The option `language` of a metric: a language, or several: then the row or the text decides.

    >>> splitter_name("fr"), splitter_name("xx"), splitter_name("en") == SPLITTER
    ('spacy-3...-fr+rules-2', 'spacy-3...-by-row-2+rules-2', True)
    """
    rules = language if len(language) == len("en") and language != NOT_CHECKED else "by-row-2"
    return SPLITTER.replace("-en+", f"-{rules}+")


def split_sentences(text: str, language: str | None = None) -> list[Place]:
    """Cut a text into sentences.

    A closing quote or bracket belongs to the sentence before it. An empty line always ends a sentence; so
    does a single newline, unless it only wraps a line (`unwrap` says when): hard-wrapped text is cut where
    the same text on one line is. Takes time linear in the text's length.

    Args:
        text: Of any length, in any script, tokenised or not, lower-cased or not; never normalised.
        language: Whose abbreviations keep their full stop; English by default. `xx` for a text of an unknown
            language: then its stop words decide, see `likely_language`.

    Returns:
        (start, end) characters of each sentence, in order, without overlap or white space at their ends.
        Whatever is not white space lies in exactly one; a text of only white space has none.

    >>> text = "mr . lee won 3.5 points ... he said `` no . '' really ?"
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['mr . lee won 3.5 points ...', "he said `` no . ''", 'really ?']
    """
    language = likely_language(text) if language == NOT_CHECKED else language or "en"
    places, text, words = [], unwrap(text), abbreviations(language)
    for first, last, lowered in _stretches(text):
        cuts = _Stretch(text, first, last, lowered, words).cuts()
        for start, end in pairwise([first, *cuts, last]):
            if piece := text[start:end].strip():
                begin = text.index(piece[0], start)
                places.append((begin, begin + len(piece)))
    return places


@cache
def _stop() -> re.Pattern[str]:
    """Whatever ends a sentence, in a run whose parts may stand apart (`. . .`)."""
    stop = f"[{re.escape(''.join(sorted(stop_characters())))}]"
    return re.compile(rf"{stop}++(?:[^\S{LINES}]++{stop}++(?!\w))*+")


def _stretches(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield what newlines separate: start, end, and whether its paragraph is all in lower case."""
    for start, end in paragraphs(text):
        lowered = text[start:end].islower()
        ends = (found.end() for found in BREAK.finditer(text, start, end))
        for first, last in pairwise([start, *ends, end]):
            yield first, last, lowered


class _Stretch:
    """Text that no newline cuts; finds where its sentences end."""

    def __init__(self, text: str, start: int, end: int, lowered: bool, words: Abbreviations) -> None:
        self.text, self.start, self.end, self.lowered, self.words = text, start, end, lowered, words
        self.quotes = _Quotes(text, start, end)

    def cuts(self) -> Iterator[int]:
        """Yield where its sentences end, closing quotes included."""
        text, first, seen, worded = self.text, self.start, self.start, False
        cut: int | None = None
        for stop in _stop().finditer(text, first, self.end):
            worded = worded or any(map(str.isalnum, text[seen : stop.start()]))
            seen, after = stop.start(), self.quotes.past_closing(stop.end())
            if (worded or cut is not None) and self._ends(first, stop, after):
                if worded and cut is not None:  # else the piece has no letter or digit: it goes with the last
                    yield cut
                cut, first, worded = after, after, False
        if cut is not None and any(map(str.isalnum, text[cut : self.end])):
            yield cut

    def _ends(self, first: int, stop: re.Match[str], after: int) -> bool:
        """Whether a stop, closed at `after`, ends the sentence."""
        following = skipped.end() if (skipped := _BEFORE_NEXT.match(self.text, after, self.end)) else after
        if following == self.end or self.text[following] in ",;:":
            return False
        word = self._word_before(stop.start())
        full_stop = stop[0] == "."
        if full_stop and (self._numbers(first, stop, word) or self._abbreviates(word, stop, following)):
            return False
        if not self.text[after].isspace():
            return self._ends_tight(stop, word, following)
        if self.lowered or not self.text[following].islower():
            return True
        certain = word.islower() and (len(word) > 3 if full_stop else not _ELLIPSIS.fullmatch(stop[0]))
        return after == stop.end() and (certain or self.text[stop.start() - 1].isspace())

    def _ends_tight(self, stop: re.Match[str], word: str, following: int) -> bool:
        """Whether a stop without white space after it ends the sentence (`way.He`, `た。そ`)."""
        if stop[0][-1] > "\x7f" and stop[0][-1] != "…":
            return not self.text[following].isdigit()
        if stop[0] == "." and (len(word) == 1 or set(".@") & set(word)):
            return False
        if stop[0] == "." and self.lowered:
            return _NEXT_PART.match(self.text, following, self.end) is not None
        before = self.text[max(stop.start() - 1, self.start)]
        closed = before.isalnum() or before in "%)]\"'”’"
        return closed and _CAPITALISED.match(self.text, following, self.end) is not None

    def _word_before(self, at: int) -> str:
        found = _LAST_WORD.search(self.text[max(self.start, at - 40) : at].rstrip())
        return found[0].lstrip("'‘’") if found else ""

    def _numbers(self, first: int, stop: re.Match[str], word: str) -> bool:
        """Whether a number is all that stands before a full stop, and what follows is its item."""
        near = word.isdigit() and len(word) < 4 and stop.start() - first < 40
        return near and self.text[first : stop.start()].strip() == word

    def _abbreviates(self, word: str, stop: re.Match[str], following: int) -> bool:
        """Whether a full stop belongs to the word before it, and ends no sentence."""
        low = word.lower()
        begins = _NEXT_WORD.match(self.text, following, self.end)
        may_end = begins is not None and begins[0] in self.words.starters
        if _NUMBERED.fullmatch(low):
            return self.text[following].isdigit()
        if self.text[stop.start() - 1].isspace():
            ended = not may_end and _SPELLED.match(self.text, max(stop.start() - 6, self.start))
            return bool(_TITLE_APART.fullmatch(low) or _SPELLED.match(self.text, stop.start() - 2) or ended)
        if self.words.titles.fullmatch(low):
            return True
        if self.words.ordinals and word.isdigit() and len(word) < LONGEST_ORDINAL:
            return not may_end
        form = low.capitalize() if self.lowered and not _ALSO_WORD.fullmatch(low) else word
        known = {word, form} & self.words.forms or _OTHER.fullmatch(low) or _DOTTED.fullmatch(word)
        return bool(known) and not may_end


class _Quotes:
    """Knows which quotes of a stretch are open; reads each character once, and only if asked."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end, self.read = text, start, end, start
        self.backticks = text.find("`", start, end) >= 0
        self.open = {'"': False, "'": False}

    def past_closing(self, at: int) -> int:
        """Return the end of the closing quotes and brackets that follow a stop."""
        while (found := _CLOSING.match(self.text, at, self.end)) and self._closes(found):
            at = found.end()
        return at

    def _closes(self, found: re.Match[str]) -> bool:
        apart, mark = bool(found[1]), found[2] or found[3]
        tight = found.end() < self.end and self.text[found.end()].isalnum()
        if mark in "“‘«‹":  # they close in languages that open with „ or »
            return not apart and not tight
        if mark not in {"'", '"', "''"}:
            return not (apart and tight and mark in "’”»›")
        if apart == tight:
            return not tight
        if _NOTHING.match(self.text, found.end(), self.end) or (self.backticks and mark != '"'):
            return True
        for quote in _QUOTE.finditer(self.text, self.read, found.start(2)):
            self._note(quote)
        self.read = max(self.read, found.start(2))
        return self.open["'" if mark == "'" else '"']

    def _note(self, quote: re.Match[str]) -> None:
        """Take note of a quote inside the stretch."""
        kind = "'" if quote[0] in "'`" else '"'
        before = self.text[quote.start() - 1] if quote.start() > self.start else " "
        after = self.text[quote.end()] if quote.end() < self.end else " "
        opens, closes = before.isspace() or before in "([{", after.isspace() or after in ".,;:!?)]}"
        if quote[0].startswith("`") or opens > closes:
            self.open[kind] = True
        elif closes > opens:
            self.open[kind] = False
        elif kind == '"' or (opens and (self.open[kind] or self.text[quote.start() - 2] != "s")):
            self.open[kind] = not self.open[kind]  # not a possessive: `three systems ' scores`
