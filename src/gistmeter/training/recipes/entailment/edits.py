"""Edits that make a supported sentence unsupported: another entity, another number, a stronger word.

Each edit takes a sentence with its documents and a random generator, and returns the edited sentence or None.
The trained model is evaluated on GO FIGURE's errors (`bench.suites.analyses.gofigure_sites`), so this module
shares neither code nor word lists with that one.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gistmeter.training.recipes.entailment.parsed import NUMBERS, Document, Part, Sentence, content


@dataclass(frozen=True, slots=True)
class Case:
    """Input of an edit.

    Args:
        sentence: Sentence to edit.
        document: Document that the sentence is about.
        other: Another document.
    """

    sentence: Sentence
    document: Document
    other: Document


@dataclass(frozen=True, slots=True)
class Edited:
    """An edited sentence.

    Args:
        text: Text after the edit.
        old: Words that were replaced; empty if the whole sentence changed.
        opposite: Whether the edited sentence contradicts the original.
    """

    text: str
    old: str = ""
    opposite: bool = False


Edit = Callable[[Case, random.Random], Edited | None]

NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "a dozen", "twenty")
ORDER = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
SCALE = {"thousand": "million", "million": "billion", "billion": "million", "hundreds": "thousands",
         "thousands": "hundreds", "dozens": "hundreds"}  # fmt: skip
STRONGER: Mapping[str, Sequence[str]] = {
    "may": ("will", "must"), "might": ("will",), "could": ("will", "must"), "can": ("must",),
    "should": ("must",), "some": ("all", "most"), "many": ("all",), "most": ("all",), "several": ("all",),
    "often": ("always",), "sometimes": ("always",), "usually": ("always",), "probably": ("certainly",),
    "possibly": ("certainly",), "likely": ("certain",), "expected to": ("certain to",),
    "suggests": ("proves",), "suggest": ("prove",), "suggested": ("proved",), "alleged": ("proven",),
    "allegedly": ("demonstrably",), "accused of": ("convicted of", "cleared of"),
    "suspected of": ("convicted of",), "up to": ("at least", "more than"),
    "at least": ("at most", "fewer than"),
    "more than": ("less than",), "less than": ("more than",), "fewer than": ("more than",),
    "nearly": ("more than",), "almost": ("more than",), "over half": ("under half",),
}  # fmt: skip
"""Word or phrase → stronger claims. Weaker claims are omitted, because the original entails them."""
OPPOSITES: Mapping[str, Sequence[str]] = {
    "increased": ("decreased",), "decreased": ("increased",), "increase": ("decrease",),
    "decrease": ("increase",), "rose": ("fell",), "fell": ("rose",), "higher": ("lower",),
    "lower": ("higher",),
    "largest": ("smallest",), "biggest": ("smallest",), "more": ("less",), "less": ("more",),
    "before": ("after",), "after": ("before",), "won": ("lost",), "lost": ("won",), "best": ("worst",),
    "better": ("worse",), "worse": ("better",), "always": ("rarely",), "every": ("hardly any",),
    "all": ("only some",), "both": ("neither",), "opened": ("closed",), "closed": ("opened",),
    "accepted": ("rejected",), "rejected": ("accepted",), "north": ("south",), "south": ("north",),
    "western": ("eastern",), "eastern": ("western",), "last": ("next",), "next": ("last",),
    "improves": ("worsens",), "outperforms": ("falls behind",), "reduce": ("raise",), "reduced": ("raised",),
    "younger": ("older",), "older": ("younger",), "former": ("current",), "male": ("female",),
}  # fmt: skip
_BOUND = re.compile(r"\b(?:than|least|most|over|under|up to|to|below|above|within)\b", re.IGNORECASE)
"""Bounds before a number: with another number, the sentence may still be true."""
_BEFORE_VERB = ("may", "might", "could", "can", "should")


def same_document(case: Case, rng: random.Random) -> Edited | None:
    """Replace a phrase with another of the same group from the same document."""
    found = [part for sentence in case.document.sentences for part in sentence.parts]
    # Two noun chunks of a document may be coreferent, unless one sentence contains both.
    return _replaced(
        case, found, rng, lambda old, new: old.named or case.document.together(old.text, new.text)
    )


def other_document(case: Case, rng: random.Random) -> Edited | None:
    """Replace a phrase with one of the same group from another document."""
    found = [part for sentence in (*case.other.sentences, *case.other.claims) for part in sentence.parts]
    return _replaced(case, found, rng, lambda _, new: case.document.stems.isdisjoint(content(new.text)))


def _replaced(
    case: Case, found: Sequence[Part], rng: random.Random, fits: Callable[[Part, Part], bool]
) -> Edited | None:
    sentence = case.sentence
    for old in rng.sample(replaceable(sentence), len(replaceable(sentence))):
        new = [part for part in found if part.group == old.group and other_thing(sentence, part.text)]
        rng.shuffle(new)
        for part in new:
            if fits(old, part):
                return Edited(sentence.with_part(old.start, old.end, lowered(part, old)), old.text)
    return None


def replaceable(sentence: Sentence) -> list[Part]:
    """Return the phrases that can be replaced grammatically; numbers are left to the edit `number`."""
    return [
        part
        for part in sentence.parts
        if part.group not in (*NUMBERS, "DATE-other") and content(part.text) and not _joined(sentence, part)
    ]


def other_thing(sentence: Sentence, text: str) -> bool:
    """Return whether a text has content words, none of them in the sentence."""
    stems = content(text)
    return bool(stems) and stems.isdisjoint(sentence.stems)


def lowered(part: Part, old: Part) -> str:
    """Return the text of a phrase, lower-cased if it replaces one in mid-sentence."""
    if part.group.startswith("NP") and old.start and part.text[:1].isupper() and not part.text[1:2].isupper():
        return part.text[0].lower() + part.text[1:]
    return part.text


def _joined(sentence: Sentence, part: Part) -> bool:
    """Return whether a phrase is part of a longer one, so that replacing it breaks the sentence."""
    word, after = sentence.words[part.head], sentence.text[part.end :].lstrip()
    if not part.named and after.startswith("of "):
        return True  # "the use of", "a number of": not meaningful alone
    return word.dep in ("compound", "amod", "nmod") or sentence.text[part.end : part.end + 1] in ("-", "/")


def number(case: Case, rng: random.Random) -> Edited | None:
    """Change a number by more than rounding."""
    sentence = case.sentence
    parts = [part for part in sentence.parts if part.group in (*NUMBERS, "DATE-year", "DATE-duration")]
    for part in rng.sample(parts, len(parts)):
        if _BOUND.search(sentence.text[max(0, part.start - 12) : part.end]):
            continue
        new = other_number(part.text, rng)
        if new is not None and not content(new) <= case.document.stems:
            return Edited(sentence.with_part(part.start, part.end, new), part.text)
    return None


def other_number(text: str, rng: random.Random) -> str | None:
    """Return a text with one number changed, or None if it has no number that can be changed.

    >>> other_number("about 40 people", random.Random(1))
    'about 24 people'
    """
    if found := re.search(r"\d+(?:,\d{3})*(?:\.\d+)?", text):
        return text[: found.start()] + _other_digits(found[0], rng) + text[found.end() :]
    for row in (NUMBER_WORDS, ORDER, tuple(SCALE)):
        for word in rng.sample(row, len(row)):
            if found := re.search(rf"\b{word}\b", text, re.IGNORECASE):
                new = SCALE.get(word) or rng.choice([another for another in row if another != word])
                return text[: found.start()] + new + text[found.end() :]
    return None


def _other_digits(text: str, rng: random.Random) -> str:
    plain = text.replace(",", "")
    if re.fullmatch(r"(?:1[5-9]|20)\d\d", plain):  # a year
        return str(int(plain) + rng.choice((-1, 1)) * rng.randint(1, 12))
    if "." in plain:
        decimals = len(plain.split(".")[1])
        return f"{float(plain) * rng.choice((0.4, 0.6, 1.5, 2.2)) + 10**-decimals:.{decimals}f}"
    value = int(plain)
    new = round(value * rng.choice((0.4, 0.6, 1.5, 2.2, 3))) if value > 5 else value + rng.randint(1, 4)
    return f"{new:,}" if "," in text else str(new)


def quantity(case: Case, rng: random.Random) -> Edited | None:
    """Replace a quantifier, modal or similar word with a stronger one."""
    return _other_word(case.sentence, STRONGER, rng)


def antonym(case: Case, rng: random.Random) -> Edited | None:
    """Replace a word with its antonym."""
    return _other_word(case.sentence, OPPOSITES, rng)


def _other_word(sentence: Sentence, words: Mapping[str, Sequence[str]], rng: random.Random) -> Edited | None:
    tags = {word.start: word.tag for word in sentence.words}
    known = "|".join(re.escape(key) for key in sorted(words, key=len, reverse=True))
    places = re.finditer(rf"\b(?:{known})\b", sentence.text, re.IGNORECASE)
    found = [place for place in places if _fits(sentence, place, tags)]
    if not found:
        return None
    place = rng.choice(found)
    return Edited(sentence.with_part(*place.span(), rng.choice(words[place[0].lower()])), place[0])


def _fits(sentence: Sentence, place: re.Match[str], tags: Mapping[int, str]) -> bool:
    said, tag = place[0].lower(), tags.get(place.start(), "")
    after = sentence.text[place.end() : place.end() + 8].lower().split()[:1]
    if said in _BEFORE_VERB:
        return tag == "MD" and after not in (["not"], ["n't"], ["have"])
    if said in ("some", "most", "many", "several", "more", "less", "all", "both", "every"):
        before = sentence.text[: place.start()].lower().split()[-1:]
        whole = tag in ("DT", "JJ", "JJR", "JJS", "PDT") and before not in (
            ["so"],
            ["how"],
            ["too"],
            ["at"],
            ["the"],
        )
        return whole and after not in (["of"], ["than"], ["the"])
    if said == "up to":
        return (
            re.match(
                r"\d|[#$£€]|\w+ (?:hundred|thousand|million|percent|per cent|years?|days?)\b",
                sentence.text[place.end() + 1 :],
            )
            is not None
        )
    return said not in ("before", "after", "last", "next", "likely") or tag in ("IN", "JJ")
