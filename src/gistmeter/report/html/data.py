"""What the page draws, as JSON: every text once, scores and spans by row and metric."""

import base64
import gzip
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gistmeter.core.example import Example
from gistmeter.core.result import MetricResult
from gistmeter.core.score import Flag, Score
from gistmeter.report.evidence import Evidence
from gistmeter.report.scale import colour_cuts
from gistmeter.report.sentence_value import sentence_value

SIDES = ("candidate", "source", "reference")
ROWS = 1000
Json = dict[str, Any]
Cuts = Sequence[tuple[int, int]]


class Anchors(Protocol):
    """Values of a metric on known texts."""

    @property
    def listed(self) -> str:
        """Their means as text."""

    def standing(self, value: float) -> str:
        """Return where a value stands among them, as text."""


@dataclass(frozen=True, slots=True)
class View:
    """What a page is made of.

    Args:
        results: What each metric gave, by the metric's label.
        examples: What was scored, in the order of the scores.
        human: What people said of each example, by dimension; empty if nobody did.
        sentences: Where each sentence of each candidate starts and ends; empty if that is not known.
        anchors: Of each metric, None if unknown; empty if none is known.
    """

    results: Mapping[str, MetricResult]
    examples: Sequence[Example]
    human: Sequence[Mapping[str, float]] = ()
    sentences: Sequence[Cuts] = ()
    anchors: Sequence[Anchors | None] = ()

    @property
    def metrics(self) -> list[tuple[str, MetricResult, Anchors | None]]:
        """The label, the result and the anchors of each metric."""
        anchors = self.anchors or [None] * len(self.results)
        return [
            (label, result, known)
            for (label, result), known in zip(self.results.items(), anchors, strict=True)
        ]


def shown_rows(total: int, limit: int) -> list[int]:
    """Return which rows are shown: all, or as many as fit, evenly spaced.

    >>> shown_rows(3, 5), shown_rows(10, 4)
    ([0, 1, 2], [0, 2, 5, 7])
    """
    number = min(total, limit)
    return [at * total // number for at in range(number)]


def page_data(view: View, shown: Sequence[int]) -> Json:
    """Return what the page draws.

    Args:
        view: Scores and texts.
        shown: The positions of the rows that the page holds.
    """
    texts: dict[str, int] = {}
    rows = [_row(view, at, texts) for at in shown]
    return {
        "total": len(view.examples),
        "metrics": [
            {"label": label, "anchors": known and known.listed, **_scale([result.scores[at] for at in shown])}
            for label, result, known in view.metrics
        ],
        "rows": rows,
        "texts": list(texts),
    }


def packed(data: Json) -> str:
    """Return data as Base64 of compressed JSON, which holds no character that HTML could take for markup."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _row(view: View, at: int, texts: dict[str, int]) -> Json:
    example = view.examples[at]
    finder = Evidence(example)
    cuts = view.sentences[at] if view.sentences else ()
    return {
        "id": example.id,
        "system": example.system,
        "doc": example.doc_id,
        "texts": [
            [SIDES.index(side), index, texts.setdefault(text, len(texts))]
            for side, index, text in example.texts()
            if text
        ],
        "human": dict(view.human[at]) if view.human else {},
        "scores": [
            _score(result.scores[at], example, finder)
            | {
                "sentences": _sentences(result.scores[at], cuts),
                "standing": _standing(result.scores[at], known),
            }
            for _, result, known in view.metrics
        ],
    }


def _score(score: Score, example: Example, finder: Evidence) -> Json:
    return {
        "value": _finite(score.value),
        "problem": score.problem,
        "parts": {name: _finite(value) for name, value in score.parts.items()},
        "flags": [_flag(flag, score, example) for flag in score.flags],
        "spans": [
            [
                *(SIDES.index(span.side), int(span.index), int(span.start), int(span.end)),
                *(_rounded(span.value), _rounded(span.weight), span.note),
                [[SIDES.index(place.side), place.index, place.start, place.end] for place in finder.of(span)],
            ]
            for span in score.spans
        ],
    }


def _standing(score: Score, anchors: Anchors | None) -> str | None:
    return anchors.standing(score.value) if anchors is not None and math.isfinite(score.value) else None


def _sentences(score: Score, cuts: Cuts) -> list[list[float | None]]:
    """Return each sentence of the candidate with its value; nothing if no sentence has one."""
    spans = [span for span in score.spans if span.side == "candidate"]
    found: list[list[float | None]] = []
    for start, end in cuts:
        inside = [span for span in spans if span.start < end and start < span.end]
        found.append([start, end, _rounded(sentence_value(inside, start, end))])
    return found if any(value is not None for *_, value in found) else []


def _flag(flag: Flag, score: Score, example: Example) -> Json:
    found: Json = {"name": flag.name, "text": str(flag)}
    cut = _cut(flag, score, example)
    return found | ({} if cut is None or flag.side is None else {"cut": [SIDES.index(flag.side), *cut]})


def _cut(flag: Flag, score: Score, example: Example) -> tuple[int, int] | None:
    """Estimate where a text was cut, as (index, character); None if something else than its end was.

    A flag counts tokens; their share of the text is taken for the share of its characters.
    """
    if flag.name != "truncated" or not flag.total or flag.kept is None or flag.kept >= flag.total:
        return None
    text = next((t for side, index, t in example.texts() if (side, index) == (flag.side, flag.index)), "")
    start = text.find(" ", len(text) * flag.kept // flag.total)
    judged = any(
        (span.side, span.index) == (flag.side, flag.index)
        and span.start > start
        and math.isfinite(span.value)
        for span in score.spans
    )
    return None if start < 0 or judged else (flag.index, start)


def _scale(scores: Sequence[Score]) -> Json:
    """Return the four values between the five colours of a metric's spans.

    Spans of no weight are part of no mean. Where some of them are negative they are differences, and have
    colours of their own.
    """
    weighted = _finite_values(span.value for score in scores for span in score.spans if span.weight)
    others = _finite_values(span.value for score in scores for span in score.spans if not span.weight)
    scale: Json = {"cuts": colour_cuts(weighted)}
    if others and min(others) < 0:
        most = float(np.quantile(np.abs(others), 0.98))
        scale["differences"] = [float(f"{most * share:.2g}") for share in (-0.6, -0.2, 0.2, 0.6)]
    return scale


def _finite_values(values: Iterable[float]) -> list[float]:
    return [float(value) for value in values if math.isfinite(value)]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _rounded(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None


def system_names(examples: Iterable[Example]) -> list[str]:
    """Return the systems in the order in which they first stand."""
    return list(dict.fromkeys(example.system for example in examples if example.system))


def judged_dimensions(human: Iterable[Mapping[str, float]]) -> list[str]:
    """Return the qualities that people judged, in the order in which they first stand."""
    return list(dict.fromkeys(name for row in human for name in row))
