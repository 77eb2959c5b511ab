"""Make synthetic labeled pairs from a parsed document: supported claims and unsupported claims of each kind.

The premise is selected for each claim, as at scoring time.
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
from gistmeter.training.recipes.entailment.reported import Report, asserted, unasserted
from gistmeter.training.recipes.entailment.rows import ALLOWED, Labelled, evidence
from gistmeter.training.recipes.entailment.syntax import negation, reduced, roles, splice

PREMISE = (1, 5)
"""Minimum and maximum number of sentences of a premise."""
COVERED = 0.55
"""A summary sentence counts as supported only if the premise has this share of its content words."""
RELATED = 0.3
"""A sentence with this share of a claim's content words counts as evidence for it."""
MISSING = 0.4
"""Share of a claim's content words that must be missing after its evidence is removed."""

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
"""Kinds of unsupported claims → edits. The kind `filler` is made in the module `filled`."""
UNLABELED = "unlabeled"
"""Kind of the summary sentences as they are, supported or not, for a teacher to judge."""
REPORTS: Mapping[str, Callable[[Sentence, random.Random], Report | None]] = {
    "asserted": asserted,
    "unasserted": unasserted,
}
"""Kinds whose evidence reports the claim → maker of the report."""
ON_REQUEST = (UNLABELED, *REPORTS)
"""Kinds that a recipe must name, so that recipes from before them stay as they were."""
BOTH_WAYS = ("same-document", "other-document", "number", "antonym", "negation")
"""Symmetric edits: neither the original nor the edited sentence supports the other."""
TRIES = 5
"""Sentences of a document to try for each kind."""


@lru_cache(maxsize=64)
def claims_of(document: Document) -> list[Sentence]:
    """Return the summary sentences that the source supports, judged by word overlap."""
    return [
        claim
        for claim in document.claims
        if claim.sound and covered(claim, evidence(document.source, claim.text, most=PREMISE[1]))
    ]


def covered(claim: Sentence, premise: str) -> bool:
    """Return whether a premise has all names and numbers of a claim, and most of its other content words.

    The check is needed because reference summaries (of XSum, for example) are not always supported.
    """
    stems = content(premise)
    facts = [
        part for part in claim.parts if part.group in (*NAMES, *NUMBERS) or part.group.startswith("DATE")
    ]
    whole = all(content(part.text) <= stems for part in facts)
    whole = whole and all(word in stems for word in claim.stems if word[0].isdigit())
    return whole and len(claim.stems & stems) >= COVERED * len(claim.stems)


def make(kind: str, document: Document, other: Document, rng: random.Random) -> Labelled | None:
    """Make one labeled pair of a kind from a document, or return None if it allows none.

    Args:
        kind: One of `KINDS` except `filler`.
        document: Document of the claim.
        other: Another document.
        rng: Source of all random choices.
    """
    said = [sentence for sentence in document.sentences if sentence.sound]
    if kind == UNLABELED:
        own = [claim for claim in document.claims if claim.sound]
    else:
        own = said if kind in OF_DOCUMENT else claims_of(document)
    if kind in EDITS and (not own or rng.random() < 0.5):
        own = said
    for sentence in rng.sample(own, min(TRIES, len(own))):
        if found := MAKERS[kind](kind, Case(sentence, document, other), rng):
            return found
    return None


def wrong(kind: str, case: Case, edited: Edited, rng: random.Random) -> Labelled:
    """Return a labeled pair of an edited sentence and the evidence selected for it."""
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


def _unlabeled(kind: str, case: Case, rng: random.Random) -> Labelled:
    return _labelled(_premise(case.document.source, case.sentence.text, rng), case.sentence.text, kind, kind)


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
    """Remove the evidence for a claim from the source and keep the other sentences."""
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
    """Edit a sentence; return the edit, and the source with the edited sentence in place of the original."""
    edited = EDITS[rng.choice(BOTH_WAYS)](case, rng)
    if edited is None or case.document.source.count(case.sentence.text) != 1:
        return None
    return edited, case.document.source.replace(case.sentence.text, edited.text)


def _reversed(kind: str, case: Case, rng: random.Random) -> Labelled | None:
    """Edit the evidence instead of the claim, so that style does not reveal unsupported claims."""
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
    """Edit claim and evidence in the same way, so that some oddly worded claims are supported."""
    found = _in_evidence(case, rng)
    if found is None:
        return None
    edited, source = found
    premise = _premise(source, edited.text, rng)
    return _labelled(premise, edited.text, "supported", kind) if edited.text in premise else None


def _reported(kind: str, case: Case, rng: random.Random) -> Labelled | None:
    """Replace a sentence of the source by a report of it; what the report asserts is supported."""
    report = REPORTS[kind](case.sentence, rng)
    if report is None or case.document.source.count(case.sentence.text) != 1:
        return None
    source = case.document.source.replace(case.sentence.text, report.evidence)
    premise = _premise(source, report.claim, rng)
    return _labelled(premise, report.claim, report.label, kind) if report.evidence in premise else None


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
    UNLABELED: _unlabeled,
    "reversed": _reversed,
    **dict.fromkeys(REPORTS, _reported),
    **dict.fromkeys(EDITS, _edited),
}
OF_DOCUMENT = ("copied", "reduced", "echoed", "reversed", *REPORTS)
"""Kinds whose claim is a sentence of the document itself."""
KINDS = (*MAKERS, "filler")
