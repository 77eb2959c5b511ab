"""Test SMS and MoverScore with given vectors, and on a tiny model."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from gistmeter import load
from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.options import options_from
from gistmeter.core.score import Flag
from gistmeter.metrics.baselines.moverscore import MoverScore, MoverScoreOptions, word_bag
from gistmeter.metrics.baselines.sms import Sms, SmsOptions
from gistmeter.models.encode.encoder import Encoder, TextVectors
from gistmeter.models.run.tokens import Tokens

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = [
    (name, case)
    for name in ("sms", "moverscore")
    for case in json.loads((GOLDEN / f"{name}.json").read_text())
]


@dataclass
class Given:
    """A fake encoder with given vectors of sentences and of tokens: signs, and sub-words of four letters."""

    vectors: Mapping[str, Sequence[float]]
    identity: str = "given"
    text_identity: str = "given"
    calls: list[list[str]] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> TextVectors:
        self.calls.append(list(texts))
        tokens = [Tokens((1,), np.zeros((1, 2), dtype=np.int64), np.zeros(1, dtype=bool), 1) for _ in texts]
        return TextVectors(np.array([self.vectors[text] for text in texts], dtype=np.float32), tokens)

    def embed_tokens(self, texts: Sequence[str]) -> list[tuple[Tokens, Any]]:
        return [self._tokens(text) for text in texts]

    def _tokens(self, text: str) -> tuple[Tokens, Any]:
        found = list(re.finditer(r"[a-zA-Z]{1,4}|[^\w\s]", text))
        offsets = np.array([(0, 0), *(match.span() for match in found)], dtype=np.int64)
        special = np.array([True] + [False] * len(found))
        vectors = [[0.0, 0.0], *(self.vectors[match[0]] for match in found)]
        return Tokens((0,) * len(offsets), offsets, special, len(found)), np.array(vectors, dtype=np.float32)


def build(name: str, vectors: Mapping[str, Sequence[float]], options: Mapping[str, object]) -> Metric:
    encoder = cast(Encoder, Given(vectors))
    if name == "sms":
        return Sms(encoder, options_from(SmsOptions, options))
    return MoverScore(encoder, options_from(MoverScoreOptions, options))


@pytest.mark.parametrize(
    ("name", "case"), CASES, ids=[f"{name}: {case['provenance']}" for name, case in CASES]
)
def test_golden(name: str, case: dict[str, Any]) -> None:
    given = case["input"]
    metric = build(name, given["vectors"], given.get("options", {}))
    [score] = metric.score([Example("1", given["candidate"], references=given["references"])])
    found = {"value": score.value, **score.parts}
    for part, value in case["value"].items():
        assert found[part] == pytest.approx(value, abs=case["tolerance"]), part
    weights = sum(span.weight for span in score.spans)
    mean = sum(span.value * span.weight for span in score.spans) / weights
    assert mean == pytest.approx(1 - score.parts["distance"])


def test_a_text_without_words_is_undefined_and_a_reference_without_words_is_flagged() -> None:
    for name in ("sms", "moverscore"):
        metric = build(name, {"Rain": [1, 0], "?": [0, 1], "!": [0, 1]}, {})
        blank, mixed, none = metric.score(
            [
                Example("1", "?", references=["Rain"]),
                Example("2", "Rain", references=["?", "Rain"]),
                Example("3", "Rain", references=["!"]),
            ]
        )
        assert blank.problem and blank.problem.endswith("finds no word in the candidate")
        assert (mixed.value, mixed.flags) == (1.0, (Flag("no_words", "reference", index=0),))
        assert none.problem and none.problem.endswith("finds no word in the reference")


def test_a_span_shows_where_most_of_a_unit_goes() -> None:
    metric = build("moverscore", {"red": [1, 0], "boat": [0, 1], "ship": [0.6, 0.8]}, {})
    [score] = metric.score([Example("1", "red boat", references=["ship red"])])
    assert [(span.note, round(span.value, 3)) for span in score.spans] == [("red", 1.0), ("ship", 0.368)]


def test_presets_and_options(tiny_bert: Path) -> None:
    with pytest.raises(UsageError, match="ngram=0: give at least 1"):
        MoverScoreOptions(ngram=0)
    example = Example("1", "The boat sank.", references=["A boat sank."])
    for spec in ("sms", "moverscore", "moverscore:layer=1"):
        metric = load(spec, model=str(tiny_bert))
        assert 0 < metric.score([example])[0].value < 1
        assert str(tiny_bert) not in metric.signature.text
    with pytest.raises(UsageError, match="sms has no preset 'best4'"):
        load("sms", preset="best4")


def test_the_tokens_of_one_character_count_once() -> None:
    offsets = np.array([(0, 0), (0, 1), (0, 1), (1, 3), (4, 6)], dtype=np.int64)
    special = np.array([True, False, False, False, False])
    tokens = Tokens((0,) * 5, offsets, special, 4)
    vectors = np.eye(5, dtype=np.float32)
    bag = word_bag("뛰어난 배가", tokens, vectors, 1)
    assert list(bag.places) == [(0, 3), (4, 6)]
    np.testing.assert_array_equal(bag.vectors, vectors[[1, 4]])
