"""Labelled pairs made from a parsed document: right claims, and wrong ones of each kind.

The premise is chosen as at scoring time, by the claim that is made.
"""

import random
from collections.abc import Callable, Mapping
from functools import lru_cache

from gistmeter.text.sentences import split_sentences
from gistmeter.training.recipes.entailment.edits import (
    Case,
    Edit,
    Edited,
    antonym,
    number,
    other_document,
    quantity,
    same_document,
)
from gistmeter.training.recipes.entailment.parsed import NAMES, NUMBERS, Document, Sentence, content
from gistmeter.training.recipes.entailment.rows import ALLOWED, Labelled, evidence
from gistmeter.training.recipes.entailment.syntax import negation, reduced, roles, splice

PREMISE = (1, 5)
"""Fewest and most sentences of a premise."""
COVERED = 0.55
"""A summary's sentence counts as supported only if its premise has this share of its content words."""
RELATED = 0.3
"""A sentence that shares this part of a claim's content words is evidence for it, and can be removed."""
MISSING = 0.4
"""Share of a claim's content words that must be gone with its evidence."""

EDITS: Mapping[str, Edit] = {
    "same-document": same_document,
    "other-document": other_document,
    "number": number,
    "quantity": quantity,
    "antonym": antonym,
    "negation": negation,
    "spliced": splice,
    "roles": roles,
}
"""Kinds of wrong claims, and what makes them. `filler` is made in `entail_filled`."""
BOTH_WAYS = ("same-document", "other-document", "number", "antonym", "negation")
"""Edits that make a sentence wrong whichever of the two is the claim and whichever the evidence."""
TRIES = 5
"""Sentences of a document that are looked at before a kind is given up for it."""


@lru_cache(maxsize=64)
def claims_of(document: Document) -> list[Sentence]:
    """Return the sentences of its summary that the source supports, as far as words can tell."""
    return [
        claim
        for claim in document.claims
        if claim.sound and covered(claim, evidence(document.source, claim.text, most=PREMISE[1]))
    ]


def covered(claim: Sentence, premise: str) -> bool:
    """Whether a premise has all names and numbers of a claim, and most of its other words.

    Summaries that people wrote for XSum say what the article does not.
    """
    stems = content(premise)
    facts = [
        part for part in claim.parts if part.group in (*NAMES, *NUMBERS) or part.group.startswith("DATE")
    ]
    whole = all(content(part.text) <= stems for part in facts)
    whole = whole and all(word in stems for word in claim.stems if word[0].isdigit())
    return whole and len(claim.stems & stems) >= COVERED * len(claim.stems)


def make(kind: str, document: Document, other: Document, rng: random.Random) -> Labelled | None:
    """Make one labelled pair of a kind from a document, or None if it offers none.

    Args:
        kind: One of `KINDS`.
        document: What the claim is about.
        other: Another document.
        rng: Decides everything.
    """
    said = [sentence for sentence in document.sentences if sentence.sound]
    own = said if kind in OF_DOCUMENT else claims_of(document)
    if kind in EDITS and (not own or rng.random() < 0.5):
        own = said
    for sentence in rng.sample(own, min(TRIES, len(own))):
        if found := MAKERS[kind](kind, Case(sentence, document, other), rng):
            return found
    return None


def wrong(kind: str, case: Case, edited: Edited, rng: random.Random) -> Labelled:
    """Return an edited sentence with the evidence that the source has for it."""
    premise = _premise(case.document.source, edited.text, rng)
    return _labelled(premise, edited.text, "refuted" if edited.opposite else "not_supported", kind)


def _edited(kind: str, case: Case, rng: random.Random) -> Labelled | None:
    edited = EDITS[kind](case, rng)
    return None if edited is None else wrong(kind, case, edited, rng)


def _supported(kind: str, case: Case, rng: random.Random) -> Labelled | None:
    premise = _premise(case.document.source, case.sentence.text, rng)
    return (
        _labelled(premise, case.sentence.text, "supported", kind) if covered(case.sentence, premise) else None
    )


def _copied(kind: str, case: Case, rng: random.Random) -> Labelled | None:
    premise = _premise(case.document.source, case.sentence.text, rng)
    return (
        _labelled(premise, case.sentence.text, "supported", kind) if case.sentence.text in premise else None
    )


def _reduced(kind: str, case: Case, rng: random.Random) -> Labelled | None:
    edited = reduced(case, rng)
    if edited is None:
        return None
    premise = _premise(case.document.source, edited.text, rng)
    return _labelled(premise, edited.text, "supported", kind) if case.sentence.text in premise else None


def _removed(kind: str, case: Case, rng: random.Random) -> Labelled | None:
    """Take the evidence of a claim out of the source; other sentences remain."""
    claim, source = case.sentence, case.document.source
    sentences = [source[start:end] for start, end in split_sentences(source)]
    rest = [one for one in sentences if len(content(one) & claim.stems) < RELATED * len(claim.stems)]
    if not rest or len(rest) == len(sentences):
        return None
    premise = _premise(" ".join(rest), claim.text, rng)
    gone = claim.stems - content(premise)
    return (
        _labelled(premise, claim.text, "not_supported", kind)
        if len(gone) > MISSING * len(claim.stems)
        else None
    )


def _in_evidence(case: Case, rng: random.Random) -> tuple[Edited, str] | None:
    """Edit a sentence, and return the edit and the source with the edited sentence in its place."""
    edited = EDITS[rng.choice(BOTH_WAYS)](case, rng)
    if edited is None or case.document.source.count(case.sentence.text) != 1:
        return None
    return edited, case.document.source.replace(case.sentence.text, edited.text)


def _reversed(kind: str, case: Case, rng: random.Random) -> Labelled | None:
    """Leave the claim as it was and edit its evidence: no claim gives itself away by how it reads."""
    found = _in_evidence(case, rng)
    if found is None:
        return None
    edited, source = found
    premise = _premise(source, case.sentence.text, rng)
    restated = bool(edited.old) and content(edited.old) <= content(premise)
    if restated or edited.text not in premise:
        return None
    return _labelled(premise, case.sentence.text, "refuted" if edited.opposite else "not_supported", kind)


def _echoed(kind: str, case: Case, rng: random.Random) -> Labelled | None:
    """Edit claim and evidence alike: what reads oddly may be supported."""
    found = _in_evidence(case, rng)
    if found is None:
        return None
    edited, source = found
    premise = _premise(source, edited.text, rng)
    return _labelled(premise, edited.text, "supported", kind) if edited.text in premise else None


def _premise(source: str, claim: str, rng: random.Random) -> str:
    return evidence(source, claim, most=rng.randint(*PREMISE))


def _labelled(premise: str, claim: str, label: str, kind: str) -> Labelled:
    return Labelled(premise, claim, ALLOWED[label], f"synthetic/{kind}")


MAKERS: Mapping[str, Callable[[str, Case, random.Random], Labelled | None]] = {
    "supported": _supported,
    "copied": _copied,
    "reduced": _reduced,
    "echoed": _echoed,
    "removed": _removed,
    "reversed": _reversed,
    **dict.fromkeys(EDITS, _edited),
}
OF_DOCUMENT = ("copied", "reduced", "echoed", "reversed")
"""Kinds that take a sentence of the document itself as their claim."""
KINDS = (*MAKERS, "filler")
