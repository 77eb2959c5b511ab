"""Corrupt one quality of a text by a dose from 0 (unchanged) to 4, for synthetic labels.

Sentences are strings. All random choices use the given generator.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gistmeter.metrics.sumqe.training.corrupt_words import Mention, broken, pronoun_for, stammered

DOSES = 4
SHARES = (0.0, 0.2, 0.45, 0.7, 1.0)
"""Share of the possible corruptions at each dose."""
WORDS = 6
"""Words per grammatical error at the highest dose."""
STAMMER = 0.5
"""Damage of a repeated phrase, in repeated sentences."""


@dataclass(frozen=True, slots=True)
class Base:
    """Clean text.

    Args:
        document: ID of the document that the text comes from.
        sentences: Sentences in order.
        mentions: For each sentence, the phrases that a pronoun can replace.
    """

    document: str
    sentences: tuple[str, ...]
    mentions: tuple[tuple[Mention, ...], ...]


Others = Callable[[random.Random], str]
"""Function that returns a random sentence of another document."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Corrupted text.

    Args:
        sentences: Sentences in order.
        share: Share of the possible corruptions that was applied, from 0 to 1. In short texts it can exceed
            the share of the dose.
    """

    sentences: list[str]
    share: float


def corrupt(base: Base, quality: str, dose: int, others: Others, rng: random.Random) -> Broken | None:
    """Corrupt one quality of a text.

    Args:
        base: Clean text.
        quality: One of `QUALITIES`.
        dose: Dose from 0 to `DOSES`.
        others: Function that returns a sentence of another document.
        rng: Random number generator.

    Returns:
        Corrupted text; None if the text is too short, or contains nothing to corrupt.
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
    """Insert errors: word order, agreement, missing or doubled words, truncated sentences (Q1)."""
    found = list(sentences)
    most = sum(len(sentence.split()) for sentence in found) / WORDS
    count = max(1, round(share * most))
    for _ in range(count):
        at = rng.choices(range(len(found)), [len(sentence) for sentence in found])[0]
        found[at] = broken(found[at], rng)
    return Broken(found, min(1.0, count / most))


def repeated(sentences: Sequence[str], share: float, rng: random.Random) -> Broken:
    """Repeat sentences, exactly or approximately, or phrases within them (Q2)."""
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
    """Remove a few inner words, for an approximate repetition of a sentence."""
    words = sentence.split()
    if len(words) < 6:
        return sentence
    size = rng.randint(1, max(1, len(words) // 4))
    start = rng.randint(1, len(words) - size - 1)
    return " ".join(words[:start] + words[start + size :])


def unclear(base: Base, share: float, rng: random.Random) -> Broken | None:
    """Replace names and noun phrases by pronouns, preferably at early mentions (Q3)."""
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
    # Removing the first sentence can also remove antecedents.
    cut = len(found) > 2 and rng.random() < share / 2
    return Broken(found[1:] if cut else found, count / len(places))


def unfocused(sentences: Sequence[str], share: float, others: Others, rng: random.Random) -> Broken | None:
    """Replace sentences by sentences of other documents, or insert such sentences (Q4)."""
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
    """Permute sentences (Q5)."""
    if len(sentences) < 3:
        return None
    places = rng.sample(range(len(sentences)), max(2, round(share * len(sentences))))
    found = list(sentences)
    for place, other in zip(places, places[1:] + places[:1], strict=True):
        found[place] = sentences[other]
    return Broken(found, len(places) / len(sentences))


def system_style(text: str) -> str:
    """Format a text like the output of older summarization systems: lower case, separated punctuation.

    >>> system_style("It wasn't Mr. Li's (old) boat, he said.")
    "it was n't mr. li 's -lrb- old -rrb- boat , he said ."
    """
    text = re.sub(r"n't\b", " n't", text.lower())
    text = re.sub(r"(?<=\w)('(?:s|d|m|re|ve|ll)\b)", r" \1", text)
    text = text.replace("(", " -lrb- ").replace(")", " -rrb- ")
    text = re.sub(r"([,;:?!\"“”]|(?<=\w)\.(?=\s*\Z)|(?<=\w\w\w)\.(?=\s))(?!\d)", r" \1 ", text)
    return " ".join(text.split())
