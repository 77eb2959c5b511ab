"""A metric whose scores are kept: it scores only what it has not scored before."""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from statistics import fmean
from typing import Any

from gistmeter.core.example import Example, Need
from gistmeter.core.metric import Metric
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.io.cache import Entry, ScoreCache

CHUNK = 128
"""Examples scored before they are on disk: few enough to lose little, many enough to share encodings."""


def content_key(example: Example) -> str:
    """Return what names an example's texts: a hash of candidate, source and references."""
    texts = [example.candidate, example.source, list(example.references)]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]


@dataclass
class Kept:
    """A metric whose scores are kept on disk; otherwise the metric itself.

    A kept score equals a fresh one in everything: value, parts, spans, flags and problem.

    Args:
        metric: Scores what is not there yet.
        cache: Keeps the scores of all metrics.
        spans: Whether scores come back with their spans, which are always kept.
    """

    metric: Metric
    cache: ScoreCache
    spans: bool = True

    @property
    def name(self) -> str:
        """The metric's."""
        return self.metric.name

    @property
    def needs(self) -> tuple[Need, ...]:
        """The metric's."""
        return self.metric.needs

    @property
    def signature(self) -> Signature:
        """The metric's."""
        return self.metric.signature

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Return kept scores; score the other examples and keep theirs, chunk by chunk."""
        keys = [content_key(example) for example in examples]
        known = self.cache.get(self.signature.hash, dict.fromkeys(keys), spans=self.spans)
        missing = {key: e for key, e in zip(keys, examples, strict=True) if key not in known}
        # Neighbours share their texts, and metrics encode a text once a call.
        ordered = sorted(missing.items(), key=lambda item: (item[1].source or "", item[1].references))
        for start in range(0, len(ordered), CHUNK):
            known |= self._score(dict(ordered[start : start + CHUNK]))
        return [_decode(e.id, known[key], spans=self.spans) for key, e in zip(keys, examples, strict=True)]

    def seconds(self, examples: Sequence[Example]) -> float:
        """Return how long one of these examples took on average when it was scored.

        Args:
            examples: At least one; all of them scored.
        """
        known = self.cache.get(self.signature.hash, {content_key(e): None for e in examples}, spans=False)
        return fmean(json.loads(entry.head)["seconds"] for entry in known.values())

    def _score(self, examples: Mapping[str, Example]) -> dict[str, Entry]:
        start = time.perf_counter()
        scores = self.metric.score(list(examples.values()))
        seconds = (time.perf_counter() - start) / len(examples)
        entries = {key: _encode(score, seconds) for key, score in zip(examples, scores, strict=True)}
        self.cache.put(self.signature.hash, entries)
        return entries


def _encode(score: Score, seconds: float) -> Entry:
    head = {
        "value": float(score.value),
        "parts": {name: float(value) for name, value in score.parts.items()},
        "flags": [astuple(flag) for flag in score.flags],
        "problem": score.problem,
        "seconds": seconds,
    }
    spans = list(map(_bare, score.spans))
    return Entry(json.dumps(head, default=int).encode(), json.dumps(spans, default=int).encode())


def _bare(span: Span) -> tuple[Any, ...]:
    numbers = (float(span.value), float(span.weight))
    return (span.side, span.start, span.end, *numbers, span.note, span.index)


def _decode(id: str, entry: Entry, *, spans: bool) -> Score:
    known = json.loads(entry.head)
    flags = tuple(Flag(*flag) for flag in known["flags"])
    found = tuple(_spans(json.loads(entry.spans))) if spans else ()
    return Score(id, known["value"], known["parts"], found, flags, known["problem"])


def _spans(bare: list[list[Any]]) -> Iterator[Span]:
    return (Span(*fields) for fields in bare)
