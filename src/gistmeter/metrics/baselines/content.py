"""Content: how much of what the source is about the candidate mentions (Louis and Nenkova, 2013)."""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import ClassVar, Literal, NamedTuple

from gistmeter.core.example import Example, Need, Side
from gistmeter.core.language import Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import early_weights, score_by_source
from gistmeter.text.language import language_flags
from gistmeter.text.plain_words import TOKENIZER, words
from gistmeter.text.sentences import SPLITTER, split_sentences
from gistmeter.text.stems import stem

FREQUENT = 15
"""Number of the source's most frequent stems in `frequent`."""
LEAD = 3
"""Number of the source's first sentences in `lead`."""


@dataclass(frozen=True, slots=True)
class ContentOptions:
    """Options of content.

    Args:
        value: Component reported as the value.
    """

    value: Literal["similarity", "early", "mentioned", "frequent", "lead"] = "similarity"


class Word(NamedTuple):
    """A content word: not a stop word, and not a single letter.

    Args:
        stem: Its stem.
        start: First character in the text.
        end: One past the last character.
    """

    stem: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Content:
    """Content words of the source in the candidate, without references, for English.

    `similarity` = 1 − Jensen–Shannon divergence (in bits, not smoothed) of the distributions of stems in
    candidate and source (Louis and Nenkova, 2013, "Automatically Assessing Machine Summary Content Without a
    Gold Standard", section 4.1.1). In `early`, which is not in the paper, the stems of the source's n-th
    sentence have the weight 1/√n, because a report tells what matters first. `mentioned` = share of the
    source's content words whose stem the candidate has; `frequent` = share of the source's 15 most frequent
    stems that it has; `lead` = share of the stems of the source's first three sentences that it has. All are
    from 0 to 1.

    The spans are on the source: 1 for runs of content words that the candidate mentions, otherwise 0; their
    mean, weighted by words, is `mentioned`.

    Args:
        options: See `ContentOptions`.

    >>> source = "The ferry sank off Malta. Divers search for the ferry."
    >>> score = Content().score([Example("1", "A ferry sank.", source=source)])[0]
    >>> round(score.value, 3), round(score.parts["mentioned"], 3)
    (0.675, 0.5)
    """

    options: ContentOptions = field(default_factory=ContentOptions)

    name = "content"
    needs: ClassVar[tuple[Need, ...]] = ("source",)
    languages: ClassVar[Languages] = Languages(("en",))

    @property
    def signature(self) -> Signature:
        """Option, tokenizer, stop words and sentence splitter: everything that determines the score."""
        return Signature.of(
            "content", version=2, **options_text(self.options), tokenizer=TOKENIZER, splitter=SPLITTER
        )

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the content words of the source that it mentions."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        return score_by_source(examples, self._against)

    def _against(self, source: str) -> Callable[[Example], Score]:
        theirs = content_words(source)
        counts = Counter(word.stem for word in theirs)
        frequent = [name for name, _ in counts.most_common(FREQUENT)]
        ends = [end for _, end in split_sentences(source)]
        weights = early_weights(len(ends))
        early: defaultdict[str, float] = defaultdict(float)
        for word in theirs:
            early[word.stem] += weights[bisect_left(ends, word.end)]
        end = ends[:LEAD][-1] if ends else 0
        lead = {word.stem for word in theirs if word.end <= end} or set(frequent)

        def score_one(example: Example) -> Score:
            ours = Counter(word.stem for word in content_words(example.candidate))
            if not ours or not theirs:
                return _undefined(example, "source" if ours else "candidate")
            parts = {
                "similarity": 1 - divergence(ours, counts),
                "early": 1 - divergence(ours, early),
                "mentioned": sum(count for name, count in counts.items() if name in ours) / len(theirs),
                "frequent": sum(name in ours for name in frequent) / len(frequent),
                "lead": len(lead & ours.keys()) / len(lead),
            }
            flags = language_flags(example.compared("source"))
            return Score(example.id, parts[self.options.value], parts, _spans(theirs, ours), flags)

        return score_one


def content_words(text: str) -> list[Word]:
    """Return the content words of an English text, in order.

    >>> [word.stem for word in content_words("The ferries didn't sink in 2015")]
    ['ferri', 'didn', 'sink', '2015']
    """
    found = words(text, punctuation=False)
    kept = (
        word for word in found if word.key not in _stop_words() and (len(word.key) > 1 or word.key.isdigit())
    )
    return [Word(stem(word.key), word.start, word.end) for word in kept]


def divergence(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the Jensen–Shannon divergence of two distributions, in bits, from 0 (equal) to 1 (disjoint).

    Args:
        one: Counts or weights of the first distribution, at least one.
        other: Those of the second.

    >>> divergence({"a": 1}, {"a": 7}), divergence({"a": 1}, {"b": 1})
    (0.0, 1.0)
    """
    sizes = sum(one.values()), sum(other.values())
    terms = []
    for name in {**one, **other}:
        shares = one.get(name, 0) / sizes[0], other.get(name, 0) / sizes[1]
        middle = sum(shares) / 2
        terms += [share * math.log2(share / middle) / 2 for share in shares if share]
    return min(1.0, max(0.0, math.fsum(terms)))


@cache
def _stop_words() -> frozenset[str]:
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)


def _undefined(example: Example, side: Side) -> Score:
    problem = f"the {side} has no content word (tokenizer {TOKENIZER})"
    return Score.undefined(example.id, problem, (Flag("no_words", side),))


def _spans(theirs: Sequence[Word], ours: Mapping[str, int]) -> tuple[Span, ...]:
    spans = []
    for mentioned, run in groupby(theirs, key=lambda word: word.stem in ours):
        own = list(run)
        note = "" if mentioned else "not mentioned"
        spans.append(Span("source", own[0].start, own[-1].end, float(mentioned), float(len(own)), note))
    return tuple(spans)
