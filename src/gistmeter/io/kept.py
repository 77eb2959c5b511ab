"""A metric wrapper that caches scores on disk."""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from statistics import fmean
from typing import Any

from gistmeter.core.example import Example
from gistmeter.core.metric import MetricWrapper
from gistmeter.core.score import Flag, Score, Span
from gistmeter.io.cache import Entry, ScoreCache

CHUNK = 128
"""Examples per cache write: few enough to lose little work, many enough to share encodings."""


def content_key(example: Example) -> str:
    """Return the cache key of an example: a hash of its candidate, source, references and language."""
    texts = [example.candidate, example.source, list(example.references)]
    texts += [example.language] if example.language else []
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Kept(MetricWrapper):
    """A metric that caches its scores on disk.

    A cached score equals a computed one: value, components, spans, flags and problem.

    Args:
        metric: The metric that scores examples that are not in the cache.
        cache: The cache, which can be shared by all metrics.
        spans: Whether returned scores have spans; the cache always stores them.
    """

    cache: ScoreCache
    spans: bool = True

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Return cached scores; score the other examples and cache their scores, chunk by chunk."""
        keys = [content_key(example) for example in examples]
        known = self.cache.get(self.signature.hash, dict.fromkeys(keys), spans=self.spans)
        missing = {key: e for key, e in zip(keys, examples, strict=True) if key not in known}
        # Sorted, so that examples with a shared text are in one call, which encodes the text once.
        ordered = sorted(missing.items(), key=lambda item: (item[1].source or "", item[1].references))
        for start in range(0, len(ordered), CHUNK):
            known |= self._score(dict(ordered[start : start + CHUNK]))
        return [_decode(e.id, known[key], spans=self.spans) for key, e in zip(keys, examples, strict=True)]

    def seconds(self, examples: Sequence[Example]) -> float:
        """Return the mean time in seconds that scoring took per example.

        Args:
            examples: At least one example; all must be in the cache.
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
