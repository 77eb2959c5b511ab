"""Texts made worse in one quality on purpose, by a dose from 0 (as it was) to 4.

Sentences are strings; what is random follows from the generator alone.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gistmeter.metrics.sumqe.training.corrupt_words import Mention, broken, pronoun_for, stammered

DOSES = 4
SHARES = (0.0, 0.2, 0.45, 0.7, 1.0)
"""Which share of what can be broken is broken at each dose."""
WORDS = 6
"""At the highest dose, one mistake in so many words."""
STAMMER = 0.5
"""A few words said twice are as bad as this share of a sentence."""


@dataclass(frozen=True, slots=True)
class Base:
    """A clean text.

    Args:
        document: Names what it was taken from.
        sentences: In order.
        mentions: Of each sentence, what could be said by a pronoun.
    """

    document: str
    sentences: tuple[str, ...]
    mentions: tuple[tuple[Mention, ...], ...]


Others = Callable[[random.Random], str]
"""Draws a sentence of another document."""


@dataclass(frozen=True, slots=True)
class Broken:
    """What became of a text.

    Args:
        sentences: In order.
        share: How much of what can be broken is, from 0 to 1: short texts cannot be broken a little.
    """

    sentences: list[str]
    share: float


def corrupt(base: Base, quality: str, dose: int, others: Others, rng: random.Random) -> Broken | None:
    """Break one quality of a text.

    Args:
        base: The text.
        quality: One of `QUALITIES`.
        dose: From 0 to `DOSES`.
        others: Draws a sentence of another document.
        rng: Decides everything.

    Returns:
        What became of it; None if it is too short for this, or has nothing to break.
    """
    sentences, share = list(base.sentences), SHARES[dose]
    if dose == 0:
        return Broken(sentences, 0.0)
    match quality:
        case "grammaticality":
            return ungrammatical(sentences, share, rng)
        case "non_redundancy":
            return repeated(sentences, share, rng)
        case "referential_clarity":
            return unclear(base, share, rng)
        case "focus":
            return unfocused(sentences, share, others, rng)
        case _:
            return shuffled(sentences, share, rng)


def ungrammatical(sentences: Sequence[str], share: float, rng: random.Random) -> Broken:
    """Break words: order, agreement, missing and doubled words, sentences cut short (Q1)."""
    found = list(sentences)
    most = sum(len(sentence.split()) for sentence in found) / WORDS
    count = max(1, round(share * most))
    for _ in range(count):
        at = rng.choices(range(len(found)), [len(sentence) for sentence in found])[0]
        found[at] = broken(found[at], rng)
    return Broken(found, min(1.0, count / most))


def repeated(sentences: Sequence[str], share: float, rng: random.Random) -> Broken:
    """Say sentences again, word for word or nearly; or stammer within them (Q2)."""
    found = list(sentences)
    keep_length = len(found) > 2 and rng.random() < 0.5
    damage = 0.0
    for _ in range(max(1, round(share * len(sentences)))):
        at = rng.randrange(len(found))
        if rng.random() < 0.3:
            found[at] = stammered(found[at], rng)
            damage += STAMMER
            continue
        damage += 1
        again = found[at] if rng.random() < 0.5 else nearly(found[at], rng)
        if keep_length:
            found[rng.choice([other for other in range(len(found)) if other != at])] = again
        else:
            found.insert(rng.choice([at + 1, len(found)]), again)
    return Broken(found, min(1.0, damage / len(sentences)))


def nearly(sentence: str, rng: random.Random) -> str:
    """Leave out a few words, not the first and the last, so that the sentence says nearly the same."""
    words = sentence.split()
    if len(words) < 6:
        return sentence
    size = rng.randint(1, max(1, len(words) // 4))
    start = rng.randint(1, len(words) - size - 1)
    return " ".join(words[:start] + words[start + size :])


def unclear(base: Base, share: float, rng: random.Random) -> Broken | None:
    """Turn names and noun phrases into pronouns, the first mentions first (Q3)."""
    places = [(at, mention) for at, some in enumerate(base.mentions) for mention in some]
    if not places:
        return None
    count = max(1, round(share * len(places)))
    ranked = sorted(places, key=lambda place: (not place[1].name, place[0] * rng.uniform(0.2, 1)))
    chosen = set(ranked[:count])
    found = []
    for at, sentence in enumerate(base.sentences):
        said = sentence
        for mention in sorted((one for where, one in chosen if where == at), reverse=True):
            said = pronoun_for(said, mention, rng)
        found.append(said)
    # What the rest refers to may also stand in a sentence that is gone.
    cut = len(found) > 2 and rng.random() < share / 2
    return Broken(found[1:] if cut else found, count / len(places))


def unfocused(sentences: Sequence[str], share: float, others: Others, rng: random.Random) -> Broken | None:
    """Bring in sentences of other documents, in the place of some or between them (Q4)."""
    if len(sentences) < 2:
        return None
    found = list(sentences)
    count = max(1, round(share * (len(found) - 1)))
    if rng.random() < 0.5:
        for at in rng.sample(range(1, len(found)), count):
            found[at] = others(rng)
    else:
        for _ in range(count):
            found.insert(rng.randint(1, len(found)), others(rng))
    return Broken(found, count / (len(sentences) - 1))


def shuffled(sentences: Sequence[str], share: float, rng: random.Random) -> Broken | None:
    """Move sentences to places that are not theirs (Q5)."""
    if len(sentences) < 3:
        return None
    places = rng.sample(range(len(sentences)), max(2, round(share * len(sentences))))
    found = list(sentences)
    for place, other in zip(places, places[1:] + places[:1], strict=True):
        found[place] = sentences[other]
    return Broken(found, len(places) / len(sentences))


def system_style(text: str) -> str:
    """Write a text as most summarisation systems do: in lower case, a space before every mark.

    >>> system_style("It wasn't Mr. Li's (old) boat, he said.")
    "it was n't mr. li 's -lrb- old -rrb- boat , he said ."
    """
    text = re.sub(r"n't\b", " n't", text.lower())
    text = re.sub(r"(?<=\w)('(?:s|d|m|re|ve|ll)\b)", r" \1", text)
    text = text.replace("(", " -lrb- ").replace(")", " -rrb- ")
    text = re.sub(r"([,;:?!\"“”]|(?<=\w)\.(?=\s*\Z)|(?<=\w\w\w)\.(?=\s))(?!\d)", r" \1 ", text)
    return " ".join(text.split())
