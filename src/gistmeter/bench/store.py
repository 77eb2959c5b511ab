"""Scores on disk, so that a new statistic costs no model time and a run that was stopped goes on.

A score is filed under its metric's signature and the texts it was made from:

    FOLDER/SIGNATURE_HASH/signature.txt
    FOLDER/SIGNATURE_HASH/CHUNK.jsonl.gz     a line an example

Ids, systems and documents decide no score and are not part of the key. A chunk appears under its name
only when it is whole; one that was damaged later is thrown away, and its rows are scored again.
"""

import gzip
import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from gistmeter.core.errors import DataError
from gistmeter.core.example import Example, Need
from gistmeter.core.metric import Metric
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature

CHUNK = 128
"""Examples scored before they are on disk: few enough to lose little, many enough to share encodings."""
SUFFIX = ".jsonl.gz"


def default_folder() -> Path:
    """Return where scores are kept unless said otherwise: a folder of the user's cache."""
    from platformdirs import user_cache_path

    return user_cache_path("gistmeter", appauthor=False) / "scores"


def content_key(example: Example) -> str:
    """Return what names an example's texts: a hash of candidate, source and references."""
    texts = [example.candidate, example.source, list(example.references)]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]


@dataclass
class Kept:
    """A metric whose scores are kept on disk; otherwise the metric itself.

    A kept score equals a fresh one in everything: value, parts, spans, flags and problem. Which version of a
    model was meant is decided by the signature, so nothing here ever grows stale.

    Args:
        metric: Scores what is not there yet.
        folder: For the scores of all metrics; made if need be.
        spans: Whether scores come back with their spans. They are always written, and reading them takes most
            of the time.

    Attributes:
        damaged: How many chunks could not be read and were thrown away.
    """

    metric: Metric
    folder: Path
    spans: bool = True
    damaged: int = field(default=0, init=False)
    _lines: dict[str, str] | None = field(default=None, init=False, repr=False)

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
        """Return kept scores; score the other examples and keep theirs, chunk by chunk.

        Raises:
            DataError: If the folder cannot be written.
        """
        keys = [content_key(example) for example in examples]
        lines = self._known()
        missing = {key: e for key, e in zip(keys, examples, strict=True) if key not in lines}
        # Neighbours share their texts, and metrics encode a text once a call.
        ordered = sorted(missing.items(), key=lambda item: (item[1].source or "", item[1].references))
        for start in range(0, len(ordered), CHUNK):
            lines |= self._score(dict(ordered[start : start + CHUNK]))
        return [_decode(e.id, lines[key]) for key, e in zip(keys, examples, strict=True)]

    def seconds(self, examples: Sequence[Example]) -> float:
        """Return how long one of these examples took on average when it was scored.

        Args:
            examples: At least one; all of them scored.
        """
        lines = self._known()
        heads = (json.loads(lines[content_key(example)].split("\t")[0]) for example in examples)
        return fmean(head["seconds"] for head in heads)

    @property
    def _place(self) -> Path:
        return self.folder / self.signature.hash

    def _known(self) -> dict[str, str]:
        if self._lines is None:
            self._lines = {}
            try:
                for path in sorted(self._place.glob(f"*{SUFFIX}")):
                    self._lines |= self._chunk(path)
            except OSError as error:
                raise DataError(f"cannot read kept scores: {error}; choose another folder") from error
        return self._lines

    def _chunk(self, path: Path) -> dict[str, str]:
        try:
            return self._read(gzip.decompress(path.read_bytes()).decode())
        except (gzip.BadGzipFile, EOFError, zlib.error, ValueError):
            self.damaged += 1
            path.unlink(missing_ok=True)
            return {}

    def _read(self, text: str) -> dict[str, str]:
        pairs = (line.split("\t", 1) for line in text.split("\n") if line)
        return {key: rest if self.spans else rest.split("\t")[0] for key, rest in pairs}

    def _score(self, examples: Mapping[str, Example]) -> dict[str, str]:
        start = time.perf_counter()
        scores = self.metric.score(list(examples.values()))
        seconds = (time.perf_counter() - start) / len(examples)
        pairs = zip(examples, scores, strict=True)
        text = "".join(f"{key}\t{_encode(score, seconds)}\n" for key, score in pairs)
        try:
            self._write(text.encode())
        except OSError as error:
            raise DataError(
                f"cannot keep scores in {self.folder}: {error.strerror or error}; choose another folder"
            ) from error
        return self._read(text)

    def _write(self, data: bytes) -> None:
        """Write a chunk beside its place and move it there, so that it is whole or not there at all."""
        self._place.mkdir(parents=True, exist_ok=True)
        (self._place / "signature.txt").write_text(self.signature.text + "\n", encoding="utf-8")
        name = hashlib.sha256(data).hexdigest()[:16]
        beside = self._place / f"{name}.{os.getpid()}.part"
        beside.write_bytes(gzip.compress(data, compresslevel=6, mtime=0))
        beside.replace(self._place / (name + SUFFIX))


def _encode(score: Score, seconds: float) -> str:
    """Return a score as two JSON texts with a tab between them: all but the spans, and the spans."""
    head = {
        "value": float(score.value),
        "parts": {name: float(value) for name, value in score.parts.items()},
        "flags": [astuple(flag) for flag in score.flags],
        "problem": score.problem,
        "seconds": seconds,
    }
    return f"{json.dumps(head, default=int)}\t{json.dumps(list(map(_bare, score.spans)), default=int)}"


def _bare(span: Span) -> tuple[Any, ...]:
    numbers = (float(span.value), float(span.weight))
    return (span.side, span.start, span.end, *numbers, span.note, span.index)


def _decode(id: str, line: str) -> Score:
    head, _, tail = line.partition("\t")
    known = json.loads(head)
    flags = tuple(Flag(*flag) for flag in known["flags"])
    spans = tuple(_spans(json.loads(tail))) if tail else ()
    return Score(id, known["value"], known["parts"], spans, flags, known["problem"])


def _spans(bare: list[list[Any]]) -> Iterator[Span]:
    return (Span(*fields) for fields in bare)
