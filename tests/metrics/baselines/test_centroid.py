"""Test centroid with given sentence vectors, and on a tiny model."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from gistmeter import load
from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.core.options import options_from
from gistmeter.core.score import Flag
from gistmeter.metrics.baselines.centroid import Centroid, CentroidOptions
from gistmeter.models.encode.encoder import Encoder, TextVectors
from gistmeter.models.run.tokens import Tokens

VECTORS: dict[str, Sequence[float]] = {
    "Rain.": [1, 0],
    "Sun.": [0, 1],
    "Both.": [0.6, 0.8],
    "Not rain.": [-1, 0],
    "Void.": [1, 0],
}


class Given:
    """A fake encoder with given vectors; it reads half of the four tokens of `Both.`, and none of `Void.`."""

    text_identity = "given"

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors

    def embed(self, texts: Sequence[str]) -> TextVectors:
        kept = {"Both.": 2, "Void.": 0}
        tokens = [self._tokens(kept.get(text, 4), 0 if text == "Void." else 4) for text in texts]
        return TextVectors(np.array([self.vectors[text] for text in texts], dtype=np.float32), tokens)

    def _tokens(self, kept: int, total: int) -> Tokens:
        return Tokens((1,) * kept, np.zeros((kept, 2), dtype=np.int64), np.zeros(kept, dtype=bool), total)


def build(**options: object) -> Centroid:
    return Centroid(cast(Encoder, Given(VECTORS)), options_from(CentroidOptions, options))


def test_the_first_sentences_of_the_source_weigh_more() -> None:
    example = Example("1", "Rain.", source="Rain. Sun. Sun. Sun.")
    [score] = build().score([example])
    later = sum(1 / math.sqrt(place) for place in (2, 3, 4))
    assert score.parts["early"] == score.value == pytest.approx(1 / math.hypot(1, later))
    assert score.parts["equal"] == pytest.approx(1 / math.hypot(1, 3))
    assert build(value="equal").score([example])[0].value == pytest.approx(score.parts["equal"])


def test_a_span_is_a_sentence_with_its_own_cosine() -> None:
    [score] = build().score([Example("1", "Sun. Both.", source="Rain.")])
    assert [(span.start, span.end, round(span.value, 6)) for span in score.spans] == [(0, 4, 0), (5, 10, 0.6)]
    assert score.parts["sentences"] == pytest.approx(0.3)
    assert score.value == pytest.approx(0.6 / math.hypot(0.6, 1.8))
    assert score.flags == (Flag("truncated", "candidate", 6, 8),)


def test_vectors_that_cancel_out_are_about_nothing() -> None:
    [score] = build().score([Example("1", "Rain. Not rain.", source="Rain.")])
    assert score.value == 0


def test_a_text_without_a_token_is_undefined() -> None:
    [score] = build().score([Example("1", "Void.", source="Rain.")])
    assert score.problem == "the model's tokenizer finds no token in the candidate"


def test_scores_do_not_depend_on_other_rows(tiny_bert: Path) -> None:
    metric = load("centroid", model=str(tiny_bert))
    rows = [
        Example("1", "The boat sank.", source="A boat sank. Nobody drowned."),
        Example("2", "Nobody drowned. The boat sank.", source="A boat sank. Nobody drowned."),
        Example("3", "A boat sank. Nobody drowned.", source="The boat sank."),
    ]
    together = [score.value for score in metric.score(rows)]
    assert together == pytest.approx([metric.score([row])[0].value for row in rows], abs=1e-5)
    assert str(tiny_bert) not in metric.signature.text


def test_presets(tiny_bert: Path) -> None:
    with pytest.raises(UsageError, match="centroid has no preset 'paper'"):
        load("centroid", preset="paper")
    with pytest.raises(UsageError, match="value"):
        load("centroid:value=late", model=str(tiny_bert))
    french = load("centroid:language=fr", model=str(tiny_bert))
    [score] = french.score([Example("1", "Il pleut.", source="Il a plu.", language="fr")])
    assert score.problem is None and "language=fr" in french.signature.text
