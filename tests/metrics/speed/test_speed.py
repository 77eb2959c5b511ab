"""SPEED on tiny models and hand-computed values."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gistmeter import Example, load
from gistmeter.core.errors import UsageError
from gistmeter.metrics.speed import Speed, SpeedOptions
from gistmeter.metrics.speed.similarity import Block, Cross, Similarity
from gistmeter.models.encode.encoder import Encoder

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "speed.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Listed:
    """Fake sentence model with given similarities: {candidate sentence: {other sentence: similarity}}."""

    table: dict[str, dict[str, float]]
    identity: str = "listed"

    def compare(self, blocks: Sequence[Block]) -> list[Similarity]:
        found = []
        for block in blocks:
            values = np.array(
                [[self.table[ours][theirs] for theirs in block.other] for ours in block.candidate]
            )
            ones = np.ones(values.shape[0] + values.shape[1], dtype=np.int64)
            found.append(Similarity(values, ones, ones))
        return found


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["provenance"])
def test_golden(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["value"]
    models = tuple(Listed(table) for table in given["models"])
    speed = Speed(models, SpeedOptions(**given["options"]))
    score = speed.score([Example("1", given["candidate"], references=given["references"])])[0]
    for part, value in expected.items():
        assert score.parts[part] == pytest.approx(value, abs=case["tolerance"]), part
    assert score.value == score.parts[speed.options.value]


def test_spans_name_the_sentence_that_matched() -> None:
    table = {
        "Rain fell.": {"It rained.": 0.9, "Sun shone.": 0.2},
        "Nobody came.": {"It rained.": 0.1, "Sun shone.": 0.3},
    }
    score = Speed((Listed(table),)).score(
        [Example("1", "Rain fell. Nobody came.", references=["It rained. Sun shone."])]
    )[0]
    assert [(span.start, span.end, span.value, span.note) for span in score.spans] == [
        (0, 10, 0.9, "reference 0: It rained."),
        (11, 23, 0.3, "reference 0: Sun shone."),
    ]


def test_recall_marks_what_the_candidate_leaves_out() -> None:
    table = {"Rain fell.": {"It rained.": 0.9, "Sun shone.": 0.2}}
    speed = Speed((Listed(table),), SpeedOptions(value="recall"))
    score = speed.score([Example("1", "Rain fell.", references=["It rained. Sun shone."])])[0]
    assert score.value == pytest.approx(0.55)
    assert [(s.start, s.end, s.value) for s in score.spans if s.side == "reference"] == [
        (0, 10, 0.9),
        (11, 21, 0.2),
    ]


def test_optimal_matching_leaves_a_sentence_without_partner() -> None:
    table = {"Rain fell.": {"It rained.": 0.9}, "Roads closed.": {"It rained.": 0.8}}
    speed = Speed((Listed(table),), SpeedOptions(match="optimal"))
    score = speed.score([Example("1", "Rain fell. Roads closed.", references=["It rained."])])[0]
    assert score.value == pytest.approx(0.9)
    assert math.isnan(score.spans[1].value)
    assert (score.spans[1].weight, score.spans[1].note) == (0.0, "no partner")


def test_cosines_equal_a_straight_line_computation(tiny_bert: Path) -> None:
    speed = load("speed", model=str(tiny_bert))
    encoder = Encoder.load(str(tiny_bert))
    ours, theirs = (
        ["The ferry left.", "Rain fell over the hills."],
        ["A bridge was closed.", "The ferry left at noon."],
    )
    score = speed.score([Example("1", " ".join(ours), references=[" ".join(theirs)])])[0]
    similarity = encoder.embed(ours).vectors @ encoder.embed(theirs).vectors.T
    assert score.parts["precision"] == pytest.approx(similarity.max(axis=1).mean(), abs=1e-6)
    assert score.parts["recall"] == pytest.approx(similarity.max(axis=0).mean(), abs=1e-6)
    assert score.parts["min"] == pytest.approx(similarity.max(axis=1).min(), abs=1e-6)


def test_several_models_and_a_cross_encoder(tiny_bert: Path, tiny_cross_encoder: Path) -> None:
    example = Example("1", "The ferry left.", references=["Rain fell over the hills."])
    both = f"{tiny_bert},{tiny_cross_encoder}"
    encoders = load("speed", model=both)
    crossed = load("speed", model=both, mode="cross")
    assert isinstance(crossed, Speed)
    assert [type(model).__name__ for model in crossed.models] == ["Cosine", "Cross"]
    assert encoders.signature != crossed.signature
    apart = [load("speed", model=str(path), mode="cross") for path in (tiny_bert, tiny_cross_encoder)]
    values = [metric.score([example])[0].value for metric in apart]
    assert crossed.score([example])[0].value == pytest.approx(sum(values) / 2, abs=1e-6)
    most = load("speed", model=both, mode="cross", ensemble="max")
    assert most.score([example])[0].value == pytest.approx(max(values), abs=1e-6)
    assert isinstance(crossed.models[1], Cross)


@pytest.mark.parametrize("mode", ["encoder", "cross"])
def test_a_long_sentence_is_flagged(tiny_cross_encoder: Path, mode: str) -> None:
    speed = load("speed", model=str(tiny_cross_encoder), mode=mode)
    example = Example("1", "The ferry left.", references=["It left.", "It left. " + "rain " * 100])
    flags = speed.score([example])[0].flags
    assert [(flag.name, flag.side, flag.index) for flag in flags] == [("truncated", "reference", 1)]
    assert flags[0].kept is not None
    assert flags[0].total is not None
    assert flags[0].kept < flags[0].total


def test_an_unknown_preset_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match="mini, base, paper, best4, all8"):
        load("speed", preset="tiny")


@pytest.mark.slow
def test_minilm_prefers_the_summary_that_says_the_same() -> None:
    source = (
        "The council voted on Tuesday to close the swimming pool for two years. "
        "Its roof leaks, and repairs would cost four million euros. Swimmers protested outside the town hall."
    )
    good = Example("good", "The town pool shuts for two years because its roof leaks.", source)
    bad = Example("bad", "A new stadium opened after the team won the cup.", source)
    speed = load("speed", against="source")
    scores = speed.score([good, bad])
    assert scores[0].value > scores[1].value + 0.2


def test_a_text_without_tokens_is_empty(tiny_bert: Path) -> None:
    speed = load("speed", model=str(tiny_bert))
    for candidate, reference, side in (("\u200b", "Rain.", "candidate"), ("Rain.", "\u200b", "reference")):
        [found] = speed.score([Example("1", candidate, references=[reference])])
        assert found.problem == f"the model's tokenizer finds no token in the {side}"
        assert [(flag.name, flag.side) for flag in found.flags] == [("empty_side", side)]


@pytest.mark.parametrize("references", ["mean", "max", "pooled"])
def test_an_empty_reference_is_left_out_and_counted(tiny_bert: Path, references: str) -> None:
    speed = load("speed", model=str(tiny_bert), references=references, value="f1")
    given = ["", "\u200b", "It left. Rain fell."]
    [found] = speed.score([Example("1", "The ferry left.", references=given)])
    [alone] = speed.score([Example("1", "The ferry left.", references=given[2:])])
    assert found.value == pytest.approx(alone.value)
    assert [str(flag) for flag in found.flags] == ["empty_side (reference 1)", "empty_side (reference 0)"]
    assert [span.index for span in found.spans] == [0, 2, 2]
    assert found.spans[0].note.startswith("reference 2: ")
