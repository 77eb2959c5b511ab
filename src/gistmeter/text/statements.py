"""Read what the verbs of English sentences state, and which words deny it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from gistmeter.text.factors import Pipeline
from gistmeter.text.plain_words import words
from gistmeter.text.stems import stem

if TYPE_CHECKING:
    from spacy.tokens import Token

NOT = frozenset(["not", "n't", "n’t", "never", "nor", "nt", "hardly", "barely"])
NOBODY = frozenset(["no", "neither", "nobody", "none", "nothing"])
"""As subject or object of a verb, or before them, they deny it."""
DENYING = frozenset(
    ["contradict", "declin", "deni", "disput", "dismiss", "doubt", "fail", "refus", "refut", "reject"]
)
"""Stems of verbs that deny their object or their clause: "rejected claims that she resigned"."""
UNTRUE = frozenset(
    [
        *("baseless", "failed", "fake", "false", "incorrect", "unable", "unfounded", "unlikely", "untrue"),
        *("unwilling", "wrong"),
    ]
)
PASSING = (
    frozenset(["able", "false", "going", "likely", "possible", "ready", "set", "true", "willing"]) | UNTRUE
)
"""After "is not", they deny the clause below."""
FACTIVE = frozenset(["forget", "know", "learn", "mind", "notic", "realis", "realiz", "regret", "remember"])
"""Stems of verbs whose clause is true even if they are denied."""
UNCLEAR = frozenset(
    [
        "alone",
        "because",
        "just",
        "merely",
        "necessarily",
        "only",
        "simply",
        "unless",
        "until",
        "whether",
        "if",
    ]
)
"""With one of these in a clause, "not" may deny a detail: "did not resign because of her age"."""
SAYING = frozenset(["add", "announc", "be", "claim", "confirm", "insist", "said", "say", "tell", "told"])
"""Stems of verbs that state nothing by themselves."""
UPWARDS = frozenset(["acl", "attr", "ccomp", "csubj", "dobj", "nsubj", "nsubjpass", "oprd", "pcomp", "xcomp"])
"""Dependencies through which a denial reaches the clause below. Not in relative clauses: "He did not see the
man who won"."""
SUBJECTS = ("nsubj", "nsubjpass")
RELATIVE = ("WDT", "WP")
BE = frozenset(["am", "are", "be", "been", "is", "was", "were", "'s", "’s", "'re", "’re", "'m", "’m"])
_STOP = frozenset(
    [
        "about", "after", "all", "also", "and", "any", "are", "been", "before", "being", "but", "can",
        "could", "did", "does", "for", "from", "had", "has", "have", "having", "her", "him", "his", "how",
        "into", "its", "may", "might", "must", "off", "one", "our", "out", "over", "said", "says", "shall",
        "she", "should", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
        "those", "was", "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why",
        "will", "with", "would", "you", "your",
    ]
)  # fmt: skip
_SHORTEST = 3
_EMPTY = _STOP | NOT | NOBODY


@dataclass(frozen=True, slots=True)
class Statement:
    """What a verb states.

    Args:
        start: First character of the verb, in its sentence.
        end: One past its last character.
        verb: Its stem; of "is" and its like, that of what follows.
        about: Stems of the other content words of its clause.
        denials: Words that deny it, such as "not" or "denied". Two of them cancel each other.
    """

    start: int
    end: int
    verb: str
    about: frozenset[str]
    denials: tuple[str, ...]

    @property
    def denied(self) -> bool:
        """Whether the sentence denies the statement."""
        return len(self.denials) % 2 == 1


def read_statements(sentences: Sequence[str], pipeline: Pipeline) -> list[tuple[Statement, ...]]:
    """Return the statements of each sentence.

    Args:
        sentences: English sentences.
        pipeline: With a parser and a tagger.
    """
    with pipeline.session() as nlp:
        docs = nlp.pipe(sentences, disable=pipeline.idle("noun"))
        return [tuple(_statements(list(doc))) for doc in docs]


@lru_cache(maxsize=1 << 14)  # many candidates have the same source
def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text, numbers included.

    >>> sorted(content_stems("She was not the first of 12 winners."))
    ['12', 'first', 'winner']
    """
    return frozenset(_stem(word.key) for word in words(text, punctuation=False) if _is_content(word.key))


def denial_key(word: str) -> str:
    """Return what two forms of a denial have in common.

    >>> denial_key("n't"), denial_key("denies")
    ('not', 'deni')
    """
    lowered = word.lower()
    return "not" if lowered in NOT or lowered in NOBODY else stem(lowered)


def _statements(tokens: Sequence["Token"]) -> Iterator[Statement]:
    for token in tokens:
        lowered = token.lower_
        if not token.tag_.startswith("VB") or token.dep_ in ("aux", "auxpass"):
            continue
        verb = _stem(lowered)
        if lowered in BE:
            verb = next((_stem(c.lower_) for c in token.children if c.dep_ in ("acomp", "attr")), "be")
        clause = list(token.subtree)
        if verb in SAYING or any(map(_is_unclear, clause)):
            continue
        named = (each.lower_ for each in (*_subject(token), *clause))
        about = frozenset(_stem(word) for word in named if _is_content(word)) - {_stem(lowered), verb}
        if about:
            denials = tuple(each.text for each in sorted(_denials(token), key=lambda each: each.i))
            yield Statement(token.idx, token.idx + len(token), verb, about, denials)


def _is_unclear(word: "Token") -> bool:
    """Return whether with a word "not" may deny a detail of the clause: "not in July but in August"."""
    corrects = word.lower_ == "but" and word.i + 1 < len(word.doc) and word.nbor().tag_ in ("CD", "IN")
    return corrects or word.lower_ in UNCLEAR


def _subject(verb: "Token") -> Sequence["Token"]:
    """Return the words of the subject that a verb has from the clause above."""
    if any(child.dep_ in SUBJECTS for child in verb.children if child.tag_ not in RELATIVE):
        return []
    if verb.dep_ in ("acl", "relcl"):
        return [verb.head]
    if verb.dep_ in ("conj", "xcomp"):
        return [word for child in verb.head.children if child.dep_ in SUBJECTS for word in child.subtree]
    return []


def _denials(verb: "Token") -> set["Token"]:
    """Return the words that deny a verb: in its clause, and above the clause."""
    found = set(_own(verb))
    below = verb
    while below.head.i != below.i and below.dep_ in UPWARDS:
        above = below.head
        if _denies(above):
            found.add(above)
        elif above.tag_.startswith("VB") and _passes(above):
            found.update(word for word in _own(above) if below.i not in (word.i, word.head.i))
            if below.dep_ in ("csubj", "nsubj"):
                found.update(
                    word for word in above.children if word.dep_ == "acomp" and word.lower_ in UNTRUE
                )
        elif not above.tag_.startswith("VB"):
            found.update(word for word in above.children if _marks(word))
        below = above
    return found


def _denies(word: "Token") -> bool:
    lowered = word.lower_
    if word.tag_.startswith("VB"):
        ruled_out = lowered in ("rule", "ruled", "rules", "ruling") and any(
            c.dep_ == "prt" for c in word.children
        )
        return stem(lowered) in DENYING or ruled_out
    return lowered == "without" or (word.dep_ in ("acomp", "oprd") and lowered in UNTRUE)


def _passes(above: "Token") -> bool:
    """Return whether "not" with a verb denies the clause below.

    It does not in "is not necessary for him to leave" and in "did not know that he left".
    """
    plain = above.lower_ not in BE or all(
        word.lower_ in PASSING for word in above.children if word.dep_ == "acomp"
    )
    return plain and _stem(above.lower_) not in FACTIVE


def _marks(word: "Token") -> bool:
    """Return whether a word before a noun denies what the noun's clause says: "no evidence that"."""
    doubted = stem(word.head.lower_) in ("doubt", "question")
    return (word.dep_ == "det" and word.lower_ == "no" and not doubted) or word.lower_ in UNTRUE


def _own(verb: "Token") -> Iterator["Token"]:
    """Yield the words that deny a verb in its own clause."""
    for word in verb.children:
        if word.lower_ in NOT:
            if word.i == 0 or word.nbor(-1).lower_ != "or":  # "whether or not"
                yield word
        elif word.dep_ in ("attr", "dobj", "nsubj", "nsubjpass"):
            if _is_nobody(word):
                yield word
            yield from (
                each for each in word.children if each.dep_ in ("det", "preconj") and _is_nobody(each)
            )


def _is_nobody(word: "Token") -> bool:
    """Return whether a word means that nobody or nothing does it; an answer ("No, she said …") does not."""
    answer = word.i == 0 and word.lower_ == "no" and not word.nbor().is_alpha
    return word.lower_ in NOBODY and not answer


def _is_content(word: str) -> bool:
    lowered = word.lower()
    long = len(lowered) >= _SHORTEST or lowered.isdigit()
    return long and lowered[0].isalnum() and lowered not in _EMPTY


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    base = IRREGULAR.get(word)
    return base or stem(word)


IRREGULAR = {
    form: stem(base)
    for base, forms in {
        "become": "became", "begin": "began begun", "break": "broke broken", "bring": "brought",
        "build": "built", "buy": "bought", "choose": "chose chosen", "come": "came", "do": "did done",
        "draw": "drew drawn", "drive": "drove driven", "eat": "ate eaten", "fall": "fell fallen",
        "feel": "felt", "fight": "fought", "find": "found", "fly": "flew flown", "forget": "forgot forgotten",
        "get": "got gotten", "give": "gave given", "go": "went gone", "grow": "grew grown", "hear": "heard",
        "hold": "held", "keep": "kept", "know": "knew known", "lead": "led", "leave": "left", "lose": "lost",
        "make": "made", "mean": "meant", "meet": "met", "pay": "paid", "ride": "rode ridden",
        "rise": "rose risen", "run": "ran", "say": "said", "see": "saw seen", "sell": "sold", "send": "sent",
        "shoot": "shot", "show": "shown", "sink": "sank sunk", "speak": "spoke spoken", "spend": "spent",
        "stand": "stood", "steal": "stole stolen", "take": "took taken", "teach": "taught", "tell": "told",
        "think": "thought", "throw": "threw thrown", "wear": "wore worn", "win": "won",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}  # fmt: skip
"""Forms of frequent irregular verbs → stem of the infinitive."""
