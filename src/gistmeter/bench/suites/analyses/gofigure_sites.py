"""Find sites for error injection in English texts: entities, numbers, negations, pronouns and verbs."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

Kind = Literal["entity", "number", "negation", "pronoun", "verb"]
Operation = Literal["swap", "replace", "delete"]

NUMBERS = ("CARDINAL", "ORDINAL", "MONEY", "PERCENT", "QUANTITY")
WORDS_OF_NUMBER = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "eleven", "twenty")
ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "tenth")
NAMES: Mapping[str, Sequence[str]] = {
    "PERSON": ("Martin Hale", "Laura Quist", "Peter Okoro", "Anna Brandt"),
    "GPE": ("Norway", "Lisbon", "Queensland", "Uruguay"),
    "LOC": ("the Alps", "the North Sea", "Patagonia"),
    "NORP": ("Danish", "Peruvian", "Canadian"),
    "ORG": ("the Ministry of Fisheries", "Halden Group", "Southern Rail"),
    "FAC": ("Union Bridge", "Westgate Station"),
    "DATE": ("last March", "the summer", "Tuesday", "the weekend"),
    "TIME": ("noon", "midnight", "an hour"),
    "ORDINAL": ORDINALS,
    "EVENT": ("the Winter Games", "the Spring Fair"),
}
OTHER_NAMES = ("Ardenholm", "Tessaly", "Norwick")
PRONOUNS: Mapping[str, Sequence[Sequence[str]]] = {
    "PRP": (
        ("he", "she", "they", "we", "I"),
        ("him", "her", "them", "us", "me"),
        ("himself", "herself", "themselves", "ourselves"),
        ("it", "they", "she"),
    ),
    "PRP$": (("his", "her", "their", "our", "my"), ("its", "their", "her")),
}
VERBS: Mapping[str, Sequence[str]] = {
    "VB": ("sell", "avoid", "forget", "praise", "leave"),
    "VBD": ("sold", "avoided", "forgot", "praised", "left"),
    "VBN": ("sold", "avoided", "forgotten", "praised", "left"),
    "VBG": ("selling", "avoiding", "forgetting", "praising", "leaving"),
    "VBP": ("sell", "avoid", "forget", "praise", "leave"),
    "VBZ": ("sells", "avoids", "forgets", "praises", "leaves"),
}
BE = frozenset(["am", "is", "are", "was", "were"])
HAVE_AND_DO = frozenset(["has", "have", "had", "does", "do", "did"])
STEMS = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}
OPPOSITES = {"never": "always", "no": "every", "nobody": "everybody", "nothing": "everything"}


@dataclass(frozen=True, slots=True)
class Site:
    """A site for an error.

    Args:
        kind: Kind of the phrase.
        start: First character.
        end: One past the last character.
        group: Entity label, or form of a verb or pronoun; phrases of one group are interchangeable.
        text: Phrase.
    """

    kind: Kind
    start: int
    end: int
    group: str
    text: str


def find_sites(doc: "Doc") -> list[Site]:
    """Return all places of a parsed text, in order; some may overlap.

    Args:
        doc: With entities, tags and dependencies, as English pipelines set them.
    """
    sites = [_entity_site(ent) for ent in doc.ents]
    covered = {token.i for ent in doc.ents for token in ent}
    for token in doc:
        if token.i not in covered:
            sites += _token_sites(token)
    return sorted(sites, key=lambda site: (site.start, site.end))


def groups_of(sites: Sequence[Site]) -> dict[str, list[str]]:
    """Return the distinct phrases of each group."""
    groups: dict[str, dict[str, None]] = defaultdict(dict)
    for site in sites:
        groups[site.group][site.text] = None
    return {group: list(texts) for group, texts in groups.items()}


def wrong_texts(site: Site, known: Mapping[str, Sequence[str]], rng: Random) -> dict[Operation, str]:
    """Return the possible wrong texts of a site by operation.

    Args:
        site: Site.
        known: Phrases of the text and its source, by group.
        rng: Source of all random choices.
    """
    if site.kind == "negation":
        return {"delete" if site.group == "negated" else "replace": _negated(site)}
    found: dict[Operation, str] = {"delete": ""}
    others = [text for text in known.get(site.group, ()) if text.lower() != site.text.lower()]
    if others:
        found["swap"] = _cased(rng.choice(others), site)
    replacement = _replacement(site, rng)
    if replacement.lower() != site.text.lower():
        found["replace"] = replacement
    return found


def _entity_site(ent: "Span") -> Site:
    kind: Kind = "number" if ent.label_ in NUMBERS else "entity"
    return Site(kind, ent.start_char, ent.end_char, ent.label_, ent.text)


def _token_sites(token: "Token") -> Iterator[Site]:
    place = (token.idx, token.idx + len(token))
    if token.tag_ in PRONOUNS:
        rows = PRONOUNS[token.tag_]
        numbers = [number for number, row in enumerate(rows) if token.lower_ in map(str.lower, row)]
        yield from (Site("pronoun", *place, f"{token.tag_} {number}", token.text) for number in numbers[:1])
    elif token.tag_ in VERBS and _says_something(token):
        yield Site("verb", *place, token.tag_, token.text)
    elif token.lower_ in ("not", "n't", "n’t", *OPPOSITES):
        # A contraction (can't, won't) is one site.
        joined = token.i > 0 and token.lower_ not in ("not", *OPPOSITES)
        start = token.nbor(-1).idx if joined else token.idx
        yield Site("negation", start, place[1], "negated", token.doc.text[start : place[1]])
    elif _affirmed(token):
        yield Site("negation", *place, "affirmed", token.text)


def _says_something(token: "Token") -> bool:
    """Return whether a verb is not an auxiliary."""
    auxiliary = token.dep_ in ("aux", "auxpass") or token.lower_ in BE | HAVE_AND_DO
    return token.is_alpha and not auxiliary


def _affirmed(token: "Token") -> bool:
    """Return whether a word is an unnegated finite auxiliary or form of `be`."""
    helps = token.lower_ in HAVE_AND_DO and token.dep_ == "aux"
    if not token.is_alpha or not (token.tag_ == "MD" or token.lower_ in BE or helps):
        return False
    after = token.nbor(1).lower_ if token.i + 1 < len(token.doc) else ""
    return after not in ("not", "n't", "n’t", "never")


def _negated(site: Site) -> str:
    """Negate an affirmed verb, or affirm a negated one."""
    if site.group == "affirmed":
        return f"{site.text} not"
    words = site.text.lower()
    if words in OPPOSITES:
        return _cased(OPPOSITES[words], site)
    stem = re.sub(r"n['’]t$|^not$", "", site.text, flags=re.IGNORECASE)
    return _cased(STEMS.get(stem.lower(), stem), site)


def _replacement(site: Site, rng: Random) -> str:
    """Return a replacement of the same kind from the fixed word lists."""
    match site.kind:
        case "number" if site.group != "ORDINAL":
            return _other_number(site.text, rng)
        case "pronoun":
            tag, number = site.group.split()
            return _cased(_another(PRONOUNS[tag][int(number)], site.text, rng), site)
        case "verb":
            return _cased(_another(VERBS[site.group], site.text, rng), site)
        case _:
            if re.search(r"\d", site.text):
                return _other_number(site.text, rng)
            return _cased(_another(NAMES.get(site.group, OTHER_NAMES), site.text, rng), site)


def _other_number(text: str, rng: Random) -> str:
    """Return another number of the same form: other digits, or another number word."""
    if re.search(r"\d", text):
        shift = rng.randint(1, 8)
        return re.sub(r"\d", lambda digit: str((int(digit[0]) - 1 + shift) % 9 + 1), text)
    return _another(WORDS_OF_NUMBER, text, rng)


def _another(choices: Sequence[str], text: str, rng: Random) -> str:
    return rng.choice([choice for choice in choices if choice.lower() != text.lower()])


def _cased(text: str, site: Site) -> str:
    """Match the casing of the original: capitalized, or lower-cased."""
    if site.text[:1].isupper():
        return text[:1].upper() + text[1:]
    return text if text == "I" or not site.text.islower() else text.lower()
