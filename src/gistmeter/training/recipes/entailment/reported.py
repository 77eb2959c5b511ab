"""Reports of a sentence that assert it ("Police said that …") or do not ("Police denied that …").

Summaries state as a fact what a source reports, and people accept it; what someone denies or hopes, and what
is a condition, must not count as support.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from gistmeter.training.recipes.entailment.parsed import Sentence, Word

LONGEST = 30
"""Maximum number of words of a sentence that is put into a report."""
SUBJECTS = ("nsubj", "nsubjpass", "expl")
SPEAKERS = (
    "Police", "Officials", "The company", "A spokeswoman", "A spokesman", "The government", "Researchers",
    "The club", "The minister", "Witnesses", "The president", "A court", "The authors", "His lawyer",
    "Local media", "The council", "Critics", "The agency", "One source",
)  # fmt: skip
ASSERTED = (
    "{who} said that {it}.", "{who} said {it}.", "{who} confirmed that {it}.", "{who} announced that {it}.",
    "{who} told reporters that {it}.", "{who} added that {it}.", "{who} revealed that {it}.",
    "It was reported that {it}.", "It has emerged that {it}.", "{it}, {who} said.",
    "{it}, according to {who}.", "According to {who}, {it}.", "In a statement, {who} said {it}.",
    "It is true that {it}.",
)  # fmt: skip
DENIED = (
    "{who} denied that {it}.", "It is not true that {it}.", "{who} rejected reports that {it}.",
    "{who} ruled out that {it}.", "Reports that {it} are false.", "{who} did not confirm rumours that {it}.",
    "It was wrongly reported that {it}.", "Contrary to reports that {it}, nothing of the kind happened.",
)  # fmt: skip
OPEN = (
    "It is unclear whether {it}.", "{who} refused to say whether {it}.", "There is no evidence that {it}.",
    "{who} hoped that {it}.", "{who} feared that {it}.", "{who} doubted that {it}.",
    "{who} asked whether {it}.", "If {it}, {who} will respond.", "Unless {it}, the plan will go ahead.",
    "{who} would be surprised if {it}.", "{who} did not know whether {it}.", "Imagine that {it}.",
)  # fmt: skip
SAYING = ("said", "says", "say", "confirmed", "announced", "reported", "revealed", "added", "stated")
"""Verbs that assert their clause."""
UNSAYING = {
    "denied that": "refuted", "refused to say whether": "not_supported", "doubted that": "not_supported",
    "hoped that": "not_supported", "asked whether": "not_supported", "feared that": "not_supported",
    "rejected claims that": "refuted",
}  # fmt: skip
"""Replacements of such a verb that do not assert the clause → label of the clause."""


@dataclass(frozen=True, slots=True)
class Report:
    """A sentence of evidence that reports a claim.

    Args:
        evidence: The sentence.
        claim: What it reports, as a sentence.
        label: `supported`, `refuted` or `not_supported`.
    """

    evidence: str
    claim: str
    label: str


def asserted(sentence: Sentence, rng: random.Random) -> Report | None:
    """Return a report that asserts a sentence: the sentence itself if it is one, or one made of it."""
    found = _reporting(sentence)
    if found is not None and rng.random() < 0.5:
        return Report(sentence.text, found.claim, "supported")
    if not _plain(sentence):
        return None
    return Report(_framed(sentence, rng.choice(ASSERTED), rng), sentence.text, "supported")


def unasserted(sentence: Sentence, rng: random.Random) -> Report | None:
    """Return a report that does not assert a sentence, or denies it."""
    found = _reporting(sentence)
    if found is not None and found.after and rng.random() < 0.5:
        verb = rng.choice(list(UNSAYING))
        text = sentence.with_part(found.verb.start, found.start, f"{verb} ")
        return Report(text, found.claim, UNSAYING[verb])
    if not _plain(sentence):
        return None
    denied = rng.random() < 0.5
    frame = rng.choice(DENIED if denied else OPEN)
    return Report(_framed(sentence, frame, rng), sentence.text, "refuted" if denied else "not_supported")


def _plain(sentence: Sentence) -> bool:
    """Return whether a sentence reads well after "that": it has a subject, and no "And" before it."""
    own = [word for word in sentence.words if word.head == sentence.root]
    start = sentence.words[0]
    joined = start.tag in ("CC", "UH", "RB", "WRB", "WP") or start.dep in ("mark", "discourse")
    return len(sentence.words) <= LONGEST and not joined and any(word.dep in SUBJECTS for word in own)


def _framed(sentence: Sentence, frame: str, rng: random.Random) -> str:
    text = frame.format(it=_inner(sentence), who=_small(rng.choice(SPEAKERS)))
    return text[:1].upper() + text[1:]


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


def _inner(sentence: Sentence) -> str:
    """Return a sentence without its period, lower-cased at its start unless a name stands there."""
    first, text = sentence.words[0], sentence.text.rstrip().removesuffix(".").rstrip()
    name = first.tag in ("NNP", "NNPS") or first.text == "I" or first.text[1:2].isupper()
    return text if name else _small(text)


@dataclass(frozen=True, slots=True)
class _Reporting:
    """A sentence that reports a clause.

    Args:
        verb: Its main verb.
        start: First character of the clause.
        claim: The clause as a sentence.
        after: Whether the clause stands right after the verb.
    """

    verb: Word
    start: int
    claim: str
    after: bool


def _reporting(sentence: Sentence) -> _Reporting | None:
    """Return what a sentence reports, if its main verb asserts a whole clause."""
    if sentence.root is None:
        return None
    verb, words = sentence.words[sentence.root], sentence.words
    own = [word for word in words if word.head == sentence.root and word is not verb]
    clauses = [word for word in own if word.dep == "ccomp"]
    if verb.text.lower() not in SAYING or len(clauses) != 1 or any(w.dep in ("neg", "aux") for w in own):
        return None
    clause = _clause(words, clauses[0])
    if len(clause) < 5 or not any(w.dep in SUBJECTS for w in clause):
        return None
    start = clause[0].start
    text = sentence.text[start : clause[-1].end].rstrip(" ,.")
    between = [word.text.lower() for word in words[sentence.root + 1 :] if word.start < start]
    after = start > verb.start and between in ([], ["that"])
    return _Reporting(verb, start, text[:1].upper() + text[1:] + ".", after)


def _clause(words: Sequence[Word], head: Word) -> Sequence[Word]:
    clause = words[head.first : head.last + 1]
    return clause[1:] if clause and clause[0].text.lower() == "that" and clause[0].dep == "mark" else clause
