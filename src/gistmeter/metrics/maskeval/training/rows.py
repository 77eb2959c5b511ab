"""Rated pairs as the weights of words are learned from them: everything that is frozen, computed once."""

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
"""Where the values of all words are kept, so that another run need not ask the filler again."""
AT_ONCE = 64  # pairs whose states are held twice for a moment


@dataclass(frozen=True, slots=True, eq=False)
class SideStates:
    """One text of a pair.

    Args:
        states: Of the n sub-words that are part of a word, shape (n, d).
        values: What the prediction of the word that each is part of is worth, shape (n,).
    """

    states: FloatArray
    values: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RatedPair:
    """A pair, what the models say of it, and what people say.

    Args:
        id: Of the example.
        document: What it is about; its source, where the row does not say.
        sides: Candidate and source.
        uniform: MaskEval with uniform weights.
        scores: By quality.
    """

    id: str
    document: str
    sides: tuple[SideStates, SideStates]
    uniform: float
    scores: dict[str, float]


Ratings = list[tuple[Example, dict[str, float]]]


def read_ratings(path: Path, dimensions: Sequence[str]) -> Ratings:
    """Read rows that people rated.

    Raises:
        DataError: If a row is not as it should be, or no row is rated for a quality.
    """
    found: Ratings = []
    for number, row in enumerate(read_rows(path), 1):
        scores = _scores(row.get("scores"), dimensions)
        candidate, source, document = row.get("candidate"), row.get("source"), row.get("doc_id")
        if not isinstance(candidate, str) or not isinstance(source, str):
            raise DataError(f"{path}, row {number}: needs a candidate and a source, both texts")
        name = None if document is None else str(document)
        found.append((Example(str(row.get("id", number)), candidate, source, doc_id=name), scores))
    for dimension in dimensions:
        if not any(dimension in scores for _, scores in found):
            raise DataError(f"{path}: no row has a number for {dimension} in its scores")
    return [(example, scores) for example, scores in found if scores]


def _scores(given: object, dimensions: Sequence[str]) -> dict[str, float]:
    known = given if isinstance(given, dict) else {}
    numbers = {name: known[name] for name in dimensions if isinstance(known.get(name), int | float)}
    return {name: float(number) for name, number in numbers.items() if math.isfinite(number)}


def word_states(rows: Ratings, metric: MaskEval, encoder: PairEncoder, folder: Path) -> list[RatedPair]:
    """Put together what is learned from.

    Args:
        rows: Rated pairs; those that the metric gives no value are left out.
        metric: With uniform weights; says what every word is worth.
        encoder: Reads the pairs.
        folder: Of the training; the words' values are kept there.
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
        states = encoder.states([(ours.ids, theirs.ids) for ours, theirs in pairs])
        for (example, scores, found), pair, both in zip(part, pairs, states, strict=True):
            ours, theirs = (_side(*side) for side in zip(pair, both, found, strict=True))
            uniform = sum(float(np.nanmean(side)) for side in found) / 2
            document = example.doc_id or example.source or ""
            result.append(RatedPair(example.id, document, (ours, theirs), uniform, scores))
    return result


def _side(tokenized: TokenizedText, states: FloatArray, values: Sequence[float]) -> SideStates:
    """Leave out sub-words of no word, and of words that did not fit into the filler's window."""
    words = [
        (word, value) for word, value in zip(tokenized.words, values, strict=True) if not math.isnan(value)
    ]
    inside = [token for word, _ in words for token in word.tokens]
    repeated = [value for word, value in words for _ in word.tokens]
    return SideStates(states[inside], np.array(repeated, dtype=np.float32))


def _known_values(metric: MaskEval, examples: Sequence[Example], folder: Path) -> list[Values | None]:
    """Return the words' values of each example, from the folder if they are there; None where undefined."""
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
            pass  # cut off, or written by something else: computed anew
    values = list(_values(metric.score(examples)))
    folder.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps({"key": key, "values": values}) + "\n")
    return values


def _values(scores: Sequence[Score]) -> Iterator[Values | None]:
    """Yield the value of every word of both sides, NaN for words that were not asked for."""
    for score in scores:
        sides = [[span.value for span in score.spans if span.side == side] for side in SIDES]
        yield None if score.problem is not None else sides
