"""Names: share of the candidate's names and numbers that occur in the source (Nan et al., 2021)."""

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean
from typing import ClassVar, Literal, NamedTuple

from gistmeter.core.example import Example, Need
from gistmeter.core.language import ENGLISH, Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.score import Score, Span
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import score_by_source
from gistmeter.text.language import language_flags
from gistmeter.text.numerals import DIGITS, NUMBER, number_of
from gistmeter.text.sentences import SPLITTER, split_sentences

ABSENT = "not in the source"
_DIGITS, _NUMBER = re.compile(DIGITS), re.compile(NUMBER)
_WORD = re.compile(rf"{NUMBER}|(?:[^\W\d_][\u0300-\u036f]*)+")  # letters with their combining marks
_OPENING = tuple(":“‘\"'([{•")
"""A capital after one of these may begin a sentence."""
_CALENDAR = frozenset(
    [
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("january", "february", "march", "april", "june", "july", "august", "september", "october"),
        *("november", "december"),
    ]
)
_NO_NAMES = frozenset(
    ["mr", "mrs", "ms", "miss", "dr", "prof", "sir", "lady", "lord", "am", "pm", "tv", "unk"]
)
"""Capitalized words that state no fact; `unk` is what older systems write for a word they do not know."""
_PRONOUNS = ("zero", "one")
"""Number words that mostly do not count anything."""
_STEM = 4
"""Letters that two forms of a name share at least, such as Portugal and Portuguese."""
_LONGEST_STEM = 20
"""Letters of a name that are compared at most, so that a text without spaces takes no more memory."""
_PAIR = 2
_ABBREVIATED = range(_PAIR, 6)
"""Numbers of words that an abbreviation stands for."""
_HEADLINE = 6
"""From this many words on, a sentence mostly in capitals is a headline, where a capital says nothing."""


@dataclass(frozen=True, slots=True)
class NamesOptions:
    """Options of names: none."""


class Word(NamedTuple):
    """A word of a text, or a number of several words.

    Args:
        text: As written.
        start: First character.
        end: One past the last character.
        key: For comparisons: in lower case, a number in digits.
        kind: `name`, `number`, or empty for any other word.
    """

    text: str
    start: int
    end: int
    key: str
    kind: Literal["name", "number", ""]


@dataclass(frozen=True, slots=True)
class Names:
    """Names and numbers of the candidate that occur in the source, for English, without a model.

    `all` = (names and numbers that are in the source) / (names and numbers), the entity precision prec_s of
    Nan et al. (2021), "Entity-level Factual Consistency of Abstractive Text Summarization", section 3.1,
    with single words in the place of a tagger's entities; 1 if there are none. `names` and `numbers` are the
    shares of these alone; NaN if there are none. `every` is 1 if all are in the source, otherwise 0; `count`
    is how many there are. The spans are these words, with the value 1 if they are in the source, otherwise 0.

    A name is a capitalized word within a sentence, or a weekday or month. A sentence of at least six words,
    most of them capitalized, is read as a headline without names. A name is also in the source in another
    form (Portugal, Portuguese), abbreviated or spelled out (US, United States); a number also as a word.

    Args:
        options: See `NamesOptions`.

    >>> source = "Lena Ortiz sold 1,500 tickets in Portugal."
    >>> example = Example("1", "The Portuguese singer Ortiz sold 1500 tickets in two weeks.", source=source)
    >>> score = Names().score([example])[0]
    >>> score.value, [example.candidate[span.start : span.end] for span in score.spans if not span.value]
    (0.75, ['two'])
    """

    options: NamesOptions = field(default_factory=NamesOptions)

    name = "names"
    needs: ClassVar[tuple[Need, ...]] = ("source",)
    languages: ClassVar[Languages] = ENGLISH

    @property
    def signature(self) -> Signature:
        """The sentence splitter: everything that determines the score."""
        return Signature.of("names", version=2, splitter=SPLITTER)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the share of its names and numbers that are in the source."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        return score_by_source(examples, self._against)

    def _against(self, source: str) -> Callable[[Example], Score]:
        known = Known.of(words(source))

        def score_one(example: Example) -> Score:
            ours = words(example.candidate)
            spelled = known.spelled_out(ours)
            found = {
                at: word.key in known or at in spelled or known.abbreviates(word)
                for at, word in enumerate(ours)
                if word.kind
            }
            parts = {
                "all": fmean(found.values()) if found else 1.0,
                "names": _share([there for at, there in found.items() if ours[at].kind == "name"]),
                "numbers": _share([there for at, there in found.items() if ours[at].kind == "number"]),
                "every": float(all(found.values())),
                "count": float(len(found)),
            }
            spans = [
                Span("candidate", ours[at].start, ours[at].end, float(there), note="" if there else ABSENT)
                for at, there in found.items()
            ]
            flags = language_flags(example.compared("source"))
            return Score(example.id, parts["all"], parts, tuple(spans), flags)

        return score_one


@dataclass(frozen=True, slots=True)
class Known:
    """The words of a source, in all forms that count as its own.

    Args:
        keys: The words.
        stems: First letters of the words, of any length from four on.
        initials: Of up to five consecutive words.
        short: Its abbreviations.
    """

    keys: frozenset[str]
    stems: frozenset[str]
    initials: frozenset[str]
    short: frozenset[str]

    @classmethod
    def of(cls, source: Sequence[Word]) -> "Known":
        """Return what the words of a source make known."""
        keys = {word.key for word in source}
        digits = {number_of(found.group()) for word in source if (found := _DIGITS.match(word.text))}
        capitals = ["".join(run) for run in _runs_of_capitals(source)]
        return cls(
            frozenset(keys | digits),  # 3 is known from 3 million
            frozenset(key[:end] for key in keys if key.isalpha() for end in _stem_ends(key)),
            frozenset(
                _initials(source[at : at + n]) for n in _ABBREVIATED for at in range(len(source) - n + 1)
            ),
            frozenset([*capitals, *(word.text.lower() for word in source if _is_short(word.text))]),
        )

    def __contains__(self, key: str) -> bool:
        """Return whether the source has a word, or another form of it, with the same first half."""
        half = key[: min(max(_STEM, (len(key) + 1) // 2), _LONGEST_STEM)]
        return key in self.keys or (key.isalpha() and half in self.stems)

    def abbreviates(self, word: Word) -> bool:
        """Return whether a word stands for consecutive words of the source, as US for United States."""
        return _is_short(word.text) and word.text.lower() in self.initials

    def spelled_out(self, candidate: Sequence[Word]) -> set[int]:
        """Return the positions of words that spell out an abbreviation of the source."""
        return {
            place
            for count in _ABBREVIATED
            for at in range(len(candidate) - count + 1)
            if _initials(candidate[at : at + count]) in self.short
            for place in range(at, at + count)
        }


def words(text: str) -> list[Word]:
    """Split an English text into words, and tell names and numbers from the others.

    >>> [word.text for word in words("The pool in Harwick Bay had two visitors.") if word.kind]
    ['Harwick', 'Bay', 'two']
    """
    found: list[Word] = []
    for start, end in split_sentences(text):
        own = list(_WORD.finditer(text, start, end))
        capitalized = sum(match.group()[0].isupper() for match in own)
        headline = len(own) >= _HEADLINE and 2 * capitalized > len(own)
        last = None
        for match in own:
            opens = last is None or text[last : match.start()].rstrip().endswith(_OPENING)
            found.append(_word(match, name=not headline and _is_name(match.group(), opens=opens)))
            last = match.end()
    return found


def _word(match: re.Match[str], *, name: bool) -> Word:
    word = match.group()
    lowered = unicodedata.normalize("NFC", word.lower())
    number = _NUMBER.fullmatch(word) is not None
    key = number_of(word) if number else lowered
    if number or word[0].isdigit():
        kind: Literal["name", "number", ""] = "" if lowered in _PRONOUNS else "number"
    else:
        kind = "name" if name else ""
    return Word(word, match.start(), match.end(), key, kind)


def _is_name(word: str, *, opens: bool) -> bool:
    """Return whether a word of a sentence is a name, not knowing whether it is a number.

    Args:
        word: The word.
        opens: Whether it is the first of its sentence, or of a part that may begin with a capital.
    """
    lowered = word.lower()
    capital = word[0].isupper() and len(word) > 1 and lowered not in _NO_NAMES
    return capital and (not opens or lowered in _CALENDAR)


def _share(found: Sequence[bool]) -> float:
    return fmean(found) if found else math.nan


def _stem_ends(key: str) -> range:
    return range(_STEM, min(len(key), _LONGEST_STEM) + 1)


def _initials(words: Sequence[Word]) -> str:
    """Return the first letters of words that an abbreviation may stand for; otherwise nothing.

    Two words must be capitalized neighbours: "his uncle's suitcase" is not abbreviated as US.
    """
    if len(words) == _PAIR:
        first, second = words
        if not (first.text[0].isupper() and second.text[0].isupper() and second.start - first.end == 1):
            return ""
    return "".join(word.text[0].lower() for word in words)


def _is_short(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _runs_of_capitals(words: Sequence[Word]) -> list[list[str]]:
    """Return abbreviations with points, such as the letters of U.S."""
    runs = groupby(words, key=lambda word: len(word.text) == 1 and word.text.isupper())
    found = [[word.text.lower() for word in run] for single, run in runs if single]
    return [run for run in found if len(run) > 1]
