"""Novelty: share of the candidate's n-grams that do not occur in the source."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import ClassVar, Literal

from gistmeter.core.example import Example, Need
from gistmeter.core.language import Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Score, Span
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import ngrams, no_word, score_by_source
from gistmeter.text.plain_words import LANGUAGES, TOKENIZER, Word, words

ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class NoveltyOptions:
    """Options of novelty.

    Args:
        value: Component reported as the value.
        punctuation: Whether punctuation marks count as words. Otherwise, n-grams span commas, so moving a
            comma does not create novel n-grams.
    """

    value: Literal["novel_1", "novel_2", "novel_3", "novel_4"] = "novel_2"
    punctuation: bool = False


@dataclass(frozen=True, slots=True)
class Novelty:
    """Share of the candidate's n-grams that do not occur in the source, for n = 1 to 4.

    `novel_n` = (occurrences in the candidate of n-grams that never occur in the source) / (n-grams in the
    candidate), from 0 (all in the source) to 1. A component is NaN if the candidate has fewer than n words.
    The spans have the value 1 for words that are not in the source, otherwise 0; their mean, weighted by
    words, is `novel_1`.

    Args:
        options: See `NoveltyOptions`.

    >>> example = Example("1", "The cat slept.", source="The old cat sat down.")
    >>> score = Novelty().score([example])[0]
    >>> score.value, round(score.parts["novel_1"], 3)
    (1.0, 0.333)
    """

    options: NoveltyOptions = field(default_factory=NoveltyOptions)

    name = "novelty"
    needs: ClassVar[tuple[Need, ...]] = ("source",)
    languages: ClassVar[Languages] = LANGUAGES

    @property
    def signature(self) -> Signature:
        """Options and tokenizer: everything that determines the score."""
        return Signature.of("novelty", version=1, **options_text(self.options), tokenizer=TOKENIZER)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by its share of novel n-grams, from 0 to 1."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        return score_by_source(examples, self._against)

    def _against(self, source: str) -> Callable[[Example], Score]:
        theirs = [word.key for word in words(source, punctuation=self.options.punctuation)]
        known = {n: set(ngrams(theirs, n)) for n in ORDERS}

        def score_one(example: Example) -> Score:
            ours = words(example.candidate, punctuation=self.options.punctuation)
            if not ours or not theirs:
                return no_word(example, "source" if ours else "candidate", TOKENIZER)
            parts = novel_shares([word.key for word in ours], known)
            value, spans = parts[self.options.value], _spans(ours, known[1])
            problem = f"the candidate is too short for {self.options.value}: it has {len(ours)} words"
            return Score(example.id, value, parts, spans, problem=problem if math.isnan(value) else None)

        return score_one


def novel_shares(candidate: Sequence[str], known: dict[int, set[tuple[str, ...]]]) -> dict[str, float]:
    """Return the share of novel n-grams for each order.

    Args:
        candidate: Words of the candidate.
        known: n-grams of the source, by n.

    Returns:
        `novel_n` for each n, from 0 to 1; NaN if the candidate has no n-gram of that order.

    >>> novel_shares(["a", "dog", "sat"], {1: {("a",), ("sat",)}, 4: set()})
    {'novel_1': 0.3333333333333333, 'novel_4': nan}
    """
    shares = {}
    for n, theirs in known.items():
        ours = ngrams(candidate, n)
        novel = sum(ngram not in theirs for ngram in ours)
        shares[f"novel_{n}"] = novel / len(ours) if ours else math.nan
    return shares


def _spans(ours: Sequence[Word], known: set[tuple[str, ...]]) -> tuple[Span, ...]:
    """Return one span per sequence of novel words, and per sequence of other words."""
    spans = []
    for novel, run in groupby(ours, key=lambda word: (word.key,) not in known):
        mine = list(run)
        note = "not in the source" if novel else ""
        spans.append(Span("candidate", mine[0].start, mine[-1].end, float(novel), float(len(mine)), note))
    return tuple(spans)
