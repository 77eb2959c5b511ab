"""Edits based on dependency parses: negation, spliced subjects, exchanged roles, and safe deletions."""

import random
import re
from collections.abc import Sequence

from gistmeter.training.recipes.entailment.edits import Case, Edited, lowered
from gistmeter.training.recipes.entailment.parsed import NUMBERS, Document, Sentence, Word, content

BE = ("am", "is", "are", "was", "were")
JOINED = {"ca": "can", "wo": "will", "sha": "shall"}
BASE = {
    "became": "become", "began": "begin", "broke": "break", "brought": "bring", "built": "build",
    "came": "come", "chose": "choose", "fell": "fall", "felt": "feel", "found": "find", "gave": "give",
    "got": "get", "grew": "grow", "held": "hold", "hit": "hit", "kept": "keep", "knew": "know", "led": "lead",
    "left": "leave", "lost": "lose", "made": "make", "met": "meet", "paid": "pay", "put": "put", "ran": "run",
    "rose": "rise", "said": "say", "saw": "see", "sent": "send", "set": "set", "showed": "show",
    "sold": "sell",
    "spent": "spend", "spoke": "speak", "stood": "stand", "told": "tell", "took": "take", "went": "go",
    "won": "win", "wrote": "write", "denied": "deny", "died": "die", "tried": "try", "carried": "carry",
    "added": "add", "asked": "ask", "called": "call", "played": "play", "scored": "score",
    "announced": "announce",
    "agreed": "agree", "used": "use", "closed": "close", "moved": "move", "named": "name", "joined": "join",
    "served": "serve", "received": "receive", "believed": "believe", "reported": "report", "voted": "vote",
    "opened": "open", "started": "start", "worked": "work", "signed": "sign", "killed": "kill",
    "helped": "help",
    "included": "include", "required": "require", "increased": "increase", "released": "release",
}  # fmt: skip
"""Past tense → base form of verbs frequent in news; other past tenses are negated with "never"."""
UNCLEAR = re.compile(r"\b(?:also|only|just|even|still|no|none|neither|nor)\b", re.IGNORECASE)
"""Words that make the scope of a negation ambiguous; sentences with one are not negated."""
MUTUAL = frozenset(
    ["met", "meet", "meets", "married", "marry", "faced", "face", "faces", "played", "play", "plays", "is",
     "was",     "are", "were", "joined", "drew", "equals", "resembles", "fought"]
)  # fmt: skip
"""Verbs for which exchanging subject and object may keep the sentence true."""
PRONOUNS = ("PRP", "PRP$", "WP", "WDT", "DT", "EX")
MANY = ("NNS", "NNPS")


def negation(case: Case, rng: random.Random) -> Edited | None:
    """Negate a sentence, or remove its negation."""
    sentence = case.sentence
    if sentence.root is None or UNCLEAR.search(sentence.text):
        return None
    negated = [word for word in sentence.words if word.dep == "neg" and word.text.lower() != "no"]
    if negated:
        return Edited(_affirmed(sentence, rng.choice(negated)), opposite=True)
    verb = sentence.words[sentence.root]
    helpers = [
        word for word in sentence.words if word.head == sentence.root and word.dep in ("aux", "auxpass")
    ]
    finite = [word for word in helpers if word.tag in ("MD", "VBD", "VBP", "VBZ")]
    first = finite[0] if finite else verb
    if finite or verb.text.lower() in BE:
        return Edited(sentence.with_part(first.end, first.end, " not"), opposite=True)
    if verb.tag not in ("VBD", "VBZ", "VBP"):
        return None
    return Edited(sentence.with_part(verb.start, verb.end, _denied(verb)), opposite=True)


def _denied(verb: Word) -> str:
    if verb.tag == "VBP":
        return f"do not {verb.text}"
    base = BASE.get(verb.text.lower()) if verb.tag == "VBD" else None
    return f"did not {base}" if base else f"never {verb.text}"


def _affirmed(sentence: Sentence, negation: Word) -> str:
    """Return a sentence without a negation; contracted verbs are restored ("can't" → "can")."""
    before = sentence.text[: negation.start].rstrip()
    for stem, whole in JOINED.items():
        if negation.text.lower() in ("n't", "n’t") and re.search(rf"\b{stem}$", before):
            before = before[: -len(stem)] + whole
    after = sentence.text[negation.end :]
    return before + after if before else after.lstrip()


def splice(case: Case, rng: random.Random) -> Edited | None:
    """Replace the subject with that of another sentence of the document."""
    own = subject(case.sentence)
    if own is None:
        return None
    others = list(case.document.sentences)
    rng.shuffle(others)
    for sentence in others:
        other = subject(sentence)
        if other is None or not _exchangeable(case.sentence, own, sentence, other, case.document):
            continue
        said = sentence.text[slice(*sentence.placed(other))]
        _, end = case.sentence.placed(own)
        return Edited(case.sentence.with_part(0, end, said))
    return None


def subject(sentence: Sentence) -> Word | None:
    """Return the head of a sentence-initial subject, or None if there is none."""
    if sentence.root is None:
        return None
    found = [
        word
        for word in sentence.words
        if word.head == sentence.root and word.dep in ("nsubj", "nsubjpass") and word.tag not in PRONOUNS
    ]
    if len(found) != 1 or found[0].first != 0 or found[0].last - found[0].first > 8:
        return None
    return found[0]


def _exchangeable(one: Sentence, own: Word, two: Sentence, other: Word, document: Document) -> bool:
    """Return whether two subjects agree in number and refer to different things."""
    if (own.tag in MANY) != (other.tag in MANY) or two.text == one.text:
        return False
    texts = [one.text[slice(*one.placed(own))], two.text[slice(*two.placed(other))]]
    if any(re.search(r"\b[A-Z]{2,5}\b", text) for text in texts):
        return False  # possibly an acronym of the other
    stems = content(texts[0]), content(texts[1])
    if not all(stems) or not stems[1].isdisjoint(one.stems) or stems[0] & stems[1]:
        return False
    return bool(_names(one, own) & _names(two, other)) or document.together(*texts)


def _names(sentence: Sentence, word: Word) -> set[str]:
    """Return the entity types in a sentence-initial subject."""
    _, last = sentence.placed(word)
    return {part.group for part in sentence.parts if part.end <= last and part.named}


def roles(case: Case, rng: random.Random) -> Edited | None:
    """Exchange agent and patient."""
    sentence = case.sentence
    doer = subject(sentence)
    if doer is None or sentence.root is None or sentence.words[sentence.root].text.lower() in MUTUAL:
        return None
    # Exchange whole phrases, so that dependents move with their head.
    parts = {(part.start, part.end): part for part in sentence.parts if not part.group.startswith(_NO_ROLE)}
    one = parts.get(sentence.placed(doer))
    objects = [word for word in sentence.words if _is_object(sentence, word) and word.tag not in PRONOUNS]
    for word in rng.sample(objects, len(objects)):
        two = parts.get(sentence.placed(word))
        if one is None or two is None or one.named != two.named or (doer.tag in MANY) != (word.tag in MANY):
            continue
        first = one.text if one.named else lowered(one, two)
        between = sentence.text[one.end : two.start]
        return Edited(_capital(two.text, sentence) + between + first + sentence.text[two.end :])
    return None


_NO_ROLE = ("DATE", *NUMBERS)


def _is_object(sentence: Sentence, word: Word) -> bool:
    """Return whether a word is the direct object of the main verb, or the agent of a passive."""
    if word.head == sentence.root and word.dep == "dobj":
        return True
    head = sentence.words[word.head]
    return word.dep == "pobj" and head.dep == "agent" and head.head == sentence.root


def _capital(text: str, sentence: Sentence) -> str:
    return text[:1].upper() + text[1:] if sentence.text[:1].isupper() else text


def reduced(case: Case, rng: random.Random) -> Edited | None:
    """Delete a parenthesis, apposition, relative clause between commas, or sentence-initial phrase."""
    sentence = case.sentence
    places = [*_asides(sentence.words, sentence.text), *_opening(sentence.words)]
    if not places or sentence.root is None:
        return None
    start, end = rng.choice(places)
    rest = sentence.text[end:].lstrip() if start == 0 else sentence.text[end:]
    text = sentence.text[:start].rstrip() + rest
    if text.endswith(",."):
        text = text[:-2] + "."
    return Edited(_capital(text, sentence)) if len(text.split()) >= 5 else None


def _asides(words: Sequence[Word], text: str) -> list[tuple[int, int]]:
    """Find parentheses, and appositions and relative clauses between commas."""
    found = [place.span() for place in re.finditer(r" ?\([^()]*\)(?= ?[\w,.])", text)]
    for word in words:
        if word.dep in ("appos", "relcl") and word.first > 0 and word.last + 1 < len(words):
            before, after = words[word.first - 1], words[word.last + 1]
            if before.text == "," and after.text in (",", "."):
                found.append((before.start, after.end if after.text == "," else after.start))
    return found


def _opening(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Find a sentence-initial phrase of time or place that ends with a comma."""
    first = words[0]
    if first.dep != "prep" or first.text.lower() not in (
        "in",
        "on",
        "at",
        "during",
        "since",
        "after",
        "before",
    ):
        return []
    end = first.last + 1
    return [(0, words[end].end)] if end < len(words) and words[end].text == "," else []
