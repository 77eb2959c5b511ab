"""Compute the frozen inputs for training word weights: word scores, sub-word states, and ratings."""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.core.score import Score
from gistmeter.metrics.maskeval.metric import SIDES, MaskEval
from gistmeter.metrics.maskeval.tokenized import TokenizedText, cut_texts
from gistmeter.models.encode.pair import PairEncoder
from gistmeter.training.files import write_text
from gistmeter.training.texts import read_rows

FloatArray = NDArray[np.float32]
Values = list[list[float]]
KNOWN = "words.json"
"""Cache file of the word scores, so that later runs do not need the filler."""
AT_ONCE = 64  # pairs per batch; limits the memory for encoder states


@dataclass(frozen=True, slots=True, eq=False)
class SideStates:
    """Encoder states and word scores of one text of a pair.

    Args:
        states: States of the n sub-words that belong to words, shape (n, d).
        values: For each sub-word, the score of its word, shape (n,).
    """

    states: FloatArray
    values: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RatedPair:
    """Pair with model outputs and human ratings.

    Args:
        id: ID of the example.
        document: ID of the document; the source text if the row has no `doc_id`.
        sides: Candidate and source.
        uniform: MaskEval score with uniform weights.
        scores: Human ratings by dimension.
    """

    id: str
    document: str
    sides: tuple[SideStates, SideStates]
    uniform: float
    scores: dict[str, float]


Ratings = list[tuple[Example, dict[str, float]]]


def read_ratings(path: Path, dimensions: Sequence[str]) -> Ratings:
    """Read rows with human ratings; rows without a rating are skipped.

    Args:
        path: File with `candidate`, `source` and `scores`.
        dimensions: Names of the ratings to read.

    Raises:
        DataError: If a row lacks a text, or no row has a rating for a dimension.
    """
    found: Ratings = []
    for number, row in enumerate(read_rows(path), 1):
        scores = _scores(row.get("scores"), dimensions)
        candidate, source, document = row.get("candidate"), row.get("source"), row.get("doc_id")
        if not isinstance(candidate, str) or not isinstance(source, str):
            raise DataError(f"{path}, row {number}: candidate and source must be texts; add or correct them")
        name = None if document is None else str(document)
        found.append((Example(str(row.get("id", number)), candidate, source, doc_id=name), scores))
    for dimension in dimensions:
        if not any(dimension in scores for _, scores in found):
            raise DataError(
                f"{path}: no row has a number for {dimension} in scores; add ratings or change dimensions"
            )
    return [(example, scores) for example, scores in found if scores]


def _scores(given: object, dimensions: Sequence[str]) -> dict[str, float]:
    known = given if isinstance(given, dict) else {}
    numbers = {name: known[name] for name in dimensions if isinstance(known.get(name), int | float)}
    return {name: float(number) for name, number in numbers.items() if math.isfinite(number)}


def word_states(rows: Ratings, metric: MaskEval, encoder: PairEncoder, folder: Path) -> list[RatedPair]:
    """Compute the inputs for training word weights.

    Args:
        rows: Rated pairs; pairs that the metric cannot score are skipped.
        metric: MaskEval with uniform weights, which provides the word scores.
        encoder: Encoder that provides the sub-word states.
        folder: Output folder of the training, which caches the word scores.
    """
    examples = [example for example, _ in rows]
    values = _known_values(metric, examples, folder)
    sound = [
        (example, scores, found)
        for (example, scores), found in zip(rows, values, strict=True)
        if found is not None
    ]
    result = []
    for at in range(0, len(sound), AT_ONCE):
        part = sound[at : at + AT_ONCE]
        texts = [text for example, *_ in part for text in (example.candidate, example.source or "")]
        tokenized_texts = cut_texts(metric.filler, texts, metric.options.language)
        pairs = [
            (tokenized_texts[example.candidate], tokenized_texts[example.source or ""])
            for example, *_ in part
        ]
        states = encoder.states([(ours.inside_ids, theirs.inside_ids) for ours, theirs in pairs])
        for (example, scores, found), pair, both in zip(part, pairs, states, strict=True):
            ours, theirs = (_side(*side) for side in zip(pair, both, found, strict=True))
            uniform = sum(float(np.nanmean(side)) for side in found) / 2
            document = example.doc_id or example.source or ""
            result.append(RatedPair(example.id, document, (ours, theirs), uniform, scores))
    return result


def _side(tokenized: TokenizedText, states: FloatArray, values: Sequence[float]) -> SideStates:
    """Select the sub-words of words with a score; words that exceed the filler's window have none.

    Args:
        tokenized: Text with its words.
        states: States of the sub-words that belong to words.
        values: Score of each word.
    """
    repeated = np.repeat(np.array(values, dtype=np.float32), [len(word.tokens) for word in tokenized.words])
    scored = ~np.isnan(repeated)
    return SideStates(states[scored], repeated[scored])


def _known_values(metric: MaskEval, examples: Sequence[Example], folder: Path) -> list[Values | None]:
    """Return the word scores of each example, from the cache if possible; None for undefined scores."""
    texts = json.dumps([[example.candidate, example.source] for example in examples])
    key = hashlib.sha256(f"{metric.signature.text}\n{texts}".encode()).hexdigest()
    path = folder / KNOWN
    if path.is_file():
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            if known["key"] == key:
                found: list[Values | None] = known["values"]
                return found
        except (ValueError, KeyError, TypeError):
            pass  # damaged cache: compute the scores again
    values = list(_values(metric.score(examples)))
    folder.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps({"key": key, "values": values}) + "\n")
    return values


def _values(scores: Sequence[Score]) -> Iterator[Values | None]:
    """Yield the scores of all words of both sides; NaN for words without a prediction."""
    for score in scores:
        sides = [[span.value for span in score.spans if span.side == side] for side in SIDES]
        yield None if score.problem is not None else sides
