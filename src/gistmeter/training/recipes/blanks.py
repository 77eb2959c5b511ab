"""Draw training queries for a filler: a passage with blanks, and the other text of its pair as context.

There are three kinds of queries, as the metrics ask them: fill the candidate from the source, fill the source
from the candidate, and fill between a document and some of its own sentences.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.tokens import Tokens
from gistmeter.text.sentences import split_sentences
from gistmeter.training.texts import TextPair

Ids = tuple[int, ...]
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CutText:
    """A tokenized text.

    Args:
        ids: Token ids.
        words: Token range [start, end) of each word; a word is a run of sub-words without white space.
        sentences: Token range [start, end) of each sentence.
        factors: Token range [start, end) of each factor; empty if factors are not used.
    """

    ids: Ids
    words: tuple[Place, ...]
    sentences: tuple[Place, ...]
    factors: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Mix:
    """Distribution of the training queries.

    Args:
        candidate: Share of queries that blank the candidate of a pair.
        source: Share of queries that blank the source of a pair.
        document: Share of queries between a document and some of its own sentences.
        window: Maximum number of tokens of a text with blanks.
        share: Maximum share of a text's words that are blanked; the share is drawn for every query.
        span: Maximum number of words per blank.
        factors: Share of queries on candidates that blank factors, as ClozE does, instead of words.
    """

    candidate: float = 0.4
    source: float = 0.25
    document: float = 0.35
    window: int = 128
    share: float = 0.3
    span: int = 4
    factors: float = 0.0


def cut_text(text: str, tokens: Tokens) -> CutText:
    """Find the words and sentences of a tokenized text."""
    offsets = tokens.offsets.tolist()
    words: list[Place] = []
    for at, (start, _) in enumerate(offsets):
        if words and start == offsets[at - 1][1]:
            words[-1] = (words[-1][0], at + 1)
        else:
            words.append((at, at + 1))
    starts = [start for start, _ in split_sentences(text)]
    first = [
        next((at for at, (_, end) in enumerate(offsets) if end > start), len(offsets)) for start in starts
    ]
    bounds = sorted({0, *first, len(offsets)})
    sentences = tuple((a, b) for a, b in pairwise(bounds) if a < b)
    return CutText(tokens.ids, tuple(words), sentences)


class BlankDrawer:
    """Draws fill queries from pairs.

    Args:
        pairs: (candidate, source) pairs.
        mix: Distribution of the queries.
    """

    def __init__(self, pairs: Sequence[tuple[CutText, CutText]], mix: Mix) -> None:
        self.pairs = [pair for pair in pairs if len(pair[0].words) > 2 and len(pair[1].words) > 2]
        self.mix = mix

    def draw(self, rng: random.Random, length: int, group: int) -> list[Query]:
        """Draw up to `group` queries that share a context of at most `length` tokens (no special tokens)."""
        kinds = ("candidate", "source", "document")
        weights = (self.mix.candidate, self.mix.source, self.mix.document)
        while True:
            candidate, source = rng.choice(self.pairs)
            kind = rng.choices(kinds, weights)[0]
            text, context, first = candidate, source.ids, True
            if kind == "source":
                text, context, first = source, candidate.ids, False
            elif kind == "document":
                text, context, first = _passage(rng, source)
            drawn = (self._query(rng, text, context[:length], first=first) for _ in range(group))
            queries = [query for query in drawn if query is not None]
            if queries:
                return queries

    def factor(self, rng: random.Random, length: int) -> Query | None:
        """Draw a query with one factor of a candidate blanked; None if the drawn candidate has no factor."""
        candidate, source = rng.choice(self.pairs)
        if not candidate.factors:
            return None
        a, b = rng.choice(candidate.factors)
        low = max(0, min(a - self.mix.window // 2, len(candidate.ids) - self.mix.window))
        text = candidate.ids[low : low + self.mix.window]
        if b - low > len(text):
            return None
        return Query(text, ((a - low, b - low),), source.ids[:length], context_first=False)

    def _query(self, rng: random.Random, text: CutText, context: Ids, *, first: bool) -> Query | None:
        """Blank words or factors in a random window of a text; None if the window has no valid blank."""
        room = self.mix.window
        most = min(len(text.words), rng.randint(room // 4, room))
        start = rng.randint(0, len(text.words) - most)
        words = text.words[start : start + most]
        low, high = words[0][0], words[-1][1]
        while high - low > room and len(words) > 1:
            words = words[:-1]
            high = words[-1][1]
        factors = [(a, b) for a, b in text.factors if low <= a and b <= high]
        if factors and rng.random() < self.mix.factors:
            blanks = self._some(rng, factors)
        else:
            blanks = self._blanks(rng, words)
        if not blanks or high - low > room:
            return None
        places = tuple((a - low, b - low) for a, b in blanks)
        return Query(text.ids[low:high], places, context, context_first=not first)

    def _blanks(self, rng: random.Random, words: Sequence[Place]) -> list[Place]:
        """Choose runs of words with at least one word between them."""
        wanted = max(1, round(len(words) * rng.uniform(0.02, self.mix.share)))
        taken: set[int] = set()
        blanks = []
        for _ in range(wanted):
            size = 1 if rng.random() < 0.6 else rng.randint(2, self.mix.span)
            start = rng.randint(0, max(0, len(words) - size))
            if taken.isdisjoint(range(start - 1, start + size + 1)):
                taken.update(range(start, start + size))
                blanks.append((words[start][0], words[min(start + size, len(words)) - 1][1]))
            if len(taken) >= wanted:
                break
        return sorted(blanks)

    def _some(self, rng: random.Random, factors: Sequence[Place]) -> list[Place]:
        """Choose one factor, or up to the maximum share of the factors."""
        most = max(1, round(len(factors) * self.mix.share))
        return sorted(rng.sample(factors, 1 if rng.random() < 0.5 else rng.randint(1, most)))


def _passage(rng: random.Random, document: CutText) -> tuple[CutText, Ids, bool]:
    """Pair a document, with or without one to three of its sentences, with a passage of those sentences.

    Returns:
        The text to blank, the context, and whether the text comes first.
    """
    sentences = document.sentences
    most = max(1, min(3, len(sentences) - 1))
    chosen = sorted(rng.sample(range(len(sentences)), rng.randint(1, most)))
    inside = [sentences[at] for at in chosen]
    passage = _part(document, inside)
    if rng.random() < 0.35:
        return document, passage.ids, False
    rest = document.ids
    if rng.random() < 0.5:
        taken = {at for a, b in inside for at in range(a, b)}
        rest = tuple(token for at, token in enumerate(document.ids) if at not in taken)
    return passage, rest, True


def _part(text: CutText, sentences: Sequence[Place]) -> CutText:
    """Return a text made of some sentences of another."""
    ids: list[int] = []
    words: list[Place] = []
    for start, end in sentences:
        shift = len(ids) - start
        words += [(a + shift, b + shift) for a, b in text.words if start <= a and b <= end]
        ids += text.ids[start:end]
    return CutText(tuple(ids), tuple(words), ((0, len(ids)),))


def cut_pairs(
    pairs: Sequence[TextPair],
    tokens: Mapping[str, Tokens],
    factors: Mapping[str, tuple[Place, ...]] | None = None,
) -> list[tuple[CutText, CutText]]:
    """Find words and sentences in the (candidate, source) of each pair.

    Args:
        pairs: Pairs of texts.
        tokens: Tokens by text, for all texts.
        factors: Token ranges of factors by text, for texts whose factors are known.
    """
    known = factors or {}
    cut = {
        text: replace(cut_text(text, found), factors=known.get(text, ())) for text, found in tokens.items()
    }
    return [(cut[pair.candidate], cut[pair.source]) for pair in pairs]
