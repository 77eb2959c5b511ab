"""Corrupt the words of a single sentence."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

PREPOSITIONS = frozenset(
    ("of", "in", "on", "at", "to", "for", "with", "by", "from", "about", "against", "over", "under", "than")
)
ARTICLES = ("a", "an", "the")
SMALL = PREPOSITIONS.union(
    ARTICLES,
    ("is", "are", "was", "were", "be", "been", "has", "have", "had", "that", "who", "which", "and", "but"),
    ("as", "it", "he", "she", "they", "his", "her", "after", "before"),
)
SWAPS = {
    "is": "are", "are": "is", "was": "were", "were": "was", "has": "have", "have": "has", "does": "do",
    "do": "does", "a": "an", "an": "a", "this": "these", "these": "this", "he": "him", "she": "her",
    "they": "them", "his": "him", "their": "them", "who": "which", "been": "be", "be": "been", "to": "for",
    "in": "at", "at": "in", "on": "of", "of": "on", "by": "with", "says": "say", "said": "say",
}  # fmt: skip
PERSONS = (("he", "him", "his"), ("she", "her", "her"), ("they", "them", "their"))
THINGS = (("it", "it", "its"), ("they", "them", "their"), ("this", "this", "its"))
ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|s)\Z")
FOLLOWS = (
    r"(?=\s?[,.;:!?'’]|\Z|\s(?:is|are|was|were|has|have|had|that|who|and|but|of|in|on|at|to|for|with|by|\w+ed)"
    r"\b)"
)
PHRASE = re.compile(
    rf"\b(?:[Tt]he|[Aa]n?|[Tt]his|[Tt]hese|[Hh]is|[Hh]er|[Tt]heir)(?: [a-z][\w-]*){{1,3}}?{FOLLOWS}"
)
NAME = re.compile(rf"\b[A-Z][\w’-]*(?:\s(?:[A-Z][\w’.-]*|of|de))*(?<! of){FOLLOWS}")
MARK = re.compile(r"[\s.!?…\"'”’)]*\Z")


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """Phrase that a pronoun can replace.

    Args:
        start: First character in its sentence.
        end: One past the last character.
        name: Whether the phrase is a name.
    """

    start: int
    end: int
    name: bool


def mentions_of(sentence: str) -> tuple[Mention, ...]:
    """Find names and noun phrases that a pronoun can replace without a grammatical error.

    >>> [mention.start for mention in mentions_of("In May the old bridge was closed, said Ann Lee.")]
    [7, 39]
    """
    found = [Mention(*place.span(), name=False) for place in PHRASE.finditer(sentence)]
    for place in NAME.finditer(sentence):
        first = (
            place.start() == 0 and " " not in place[0]
        )  # the first word of a sentence is always capitalized
        if not first and not sentence[: place.start()].lower().endswith((" the ", " a ", " an ")):
            found.append(Mention(*place.span(), name=True))
    apart: list[Mention] = []
    for mention in sorted(found):
        if not apart or mention.start >= apart[-1].end:
            apart.append(mention)
    return tuple(apart)


def broken(sentence: str, rng: random.Random) -> str:
    """Insert one error into a sentence, of a kind that occurs in system output."""
    mark = MARK.search(sentence)
    end = mark.start() if mark else len(sentence)
    words, tail = sentence[:end].split(), sentence[end:]
    if len(words) < 3:
        return sentence
    kind = rng.random()
    at = rng.randrange(len(words) - 1)
    if kind < 0.2:
        words[at], words[at + 1] = words[at + 1], words[at]
    elif kind < 0.42:
        del words[_one_of(words, lambda word: word.lower() in SMALL, rng)]
    elif kind < 0.5:
        words.insert(at, words[at])
    elif kind < 0.72:
        at = _one_of(words, lambda word: word.lower() in SWAPS or ENDING.search(word) is not None, rng)
        words[at] = _other_form(words[at], rng)
    elif kind < 0.82:
        words = words[: rng.randint(max(2, len(words) // 3), len(words) - 1)]
        tail = tail if rng.random() < 0.6 else ""
    elif kind < 0.92:
        size = rng.randint(1, max(1, len(words) // 3))
        del words[at : at + size]
    else:
        to = rng.choice([place for place in range(len(words)) if place != at])
        words.insert(to, words.pop(at))
    return " ".join(words) + tail


def stammered(sentence: str, rng: random.Random) -> str:
    """Repeat a phrase of a sentence."""
    words = sentence.split()
    size = rng.randint(min(2, len(words)), max(1, min(7, len(words) // 2)) + 1)
    start = rng.randint(0, max(0, len(words) - size))
    run = words[start : start + size]
    link = rng.choice([[], ["and"], [","]])
    return " ".join([*words[: start + size], *link, *run, *words[start + size :]])


def pronoun_for(sentence: str, mention: Mention, rng: random.Random) -> str:
    """Replace a name or a noun phrase by a pronoun."""
    before, after = sentence[: mention.start], sentence[mention.end :]
    forms = rng.choice(PERSONS if mention.name else THINGS)
    previous = before.split()[-1:]
    which = 1 if previous and (previous[0].lower() in PREPOSITIONS or previous[0].endswith("ed")) else 0
    if found := re.match(r"\s?['’]s\b", after):
        which, after = 2, after[found.end() :]
    said = forms[which]
    if not before.strip() and not sentence.islower():
        said = said.capitalize()
    return before + said + after


def _one_of(words: list[str], wanted: Callable[[str], bool], rng: random.Random) -> int:
    """Return the index of a random word that meets the condition, or of any word if none does."""
    return rng.choice([at for at, word in enumerate(words) if wanted(word)] or range(len(words)))


def _other_form(word: str, rng: random.Random) -> str:
    if word.lower() in SWAPS:
        return SWAPS[word.lower()]
    return ENDING.sub("", word) if ENDING.search(word) and rng.random() < 0.7 else word + "s"
