"""Test `check`: features of sentences, probabilities, and what a member without a value means."""

import json
import math
from pathlib import Path

import pytest

from gistmeter import catalog
from gistmeter.combined.check import KIND
from gistmeter.combined.members import read_combination
from gistmeter.combined.support import FEATURES, Risk, read_sentences
from gistmeter.core.example import Example
from gistmeter.core.score import Score, Span
from gistmeter.models.run.runtime import Runtime

TEXT = "A ferry turned back. Nobody drowned."
PAIR = Example("1", TEXT, "A ferry turned back in the storm. No one was hurt.")
FIRST, SECOND = (0, 20), (21, 36)
RISK = Risk(0.0, (-2.0, 0.0, 0.0, -1.0, 0.0, 0.0), (0.5,) * 6)


def speed(first: float, second: float) -> Score:
    spans = (
        Span("candidate", *FIRST, first, 1.0, "source: A ferry turned back in the storm."),
        Span("candidate", *SECOND, second, 1.0, "source: No one was hurt."),
    )
    return Score("1", (first + second) / 2, spans=spans)


def facts(*spans: Span) -> Score:
    return Score("1", 0.5, spans=spans)


def names(*absent: tuple[int, int]) -> Score:
    return Score("1", 0.5, spans=tuple(Span("candidate", *place, 0.0) for place in absent))


def denials(first: str = "", second: str = "") -> Score:
    notes = {FIRST: first, SECOND: second}
    spans = tuple(Span("candidate", *place, float(not note), note=note) for place, note in notes.items())
    return Score("1", 0.5, spans=spans)


def test_features_of_a_sentence_come_from_its_own_spans() -> None:
    found = read_sentences(
        speed(0.7, 0.3),
        facts(
            Span("candidate", 2, 7, 0.64, 1.0, "ferry (confidence .90)"),
            Span("candidate", 8, 14, 0.01, 1.0, "went (confidence .20)"),
        ),
        names((2, 7)),
        denials(second="“drowned” is denied in the source (“No”): No one drowned."),
        speed(0.9, -0.8),
    )
    assert found[0].features == pytest.approx((0.9, 0.7, 0.08, 0.01, 0.0, 1.0))
    assert [(span.start, span.end) for span in found[0].absent] == [(2, 7)]
    assert found[0].doubt is not None and found[0].doubt.note == "went (confidence .20)"
    assert found[1].features[:2] == (-0.8, 0.3)
    assert all(map(math.isnan, found[1].features[2:4])) and found[1].doubt is None
    assert found[1].features[4:] == (1.0, 0.0) and not found[1].absent
    assert not found[0].denial and found[1].denial.startswith("“drowned” is denied")


def test_the_evidence_is_the_closest_sentence_not_the_best_premise() -> None:
    premise = Span("candidate", *FIRST, 0.1, 1.0, "source: The bakery opens at six.")
    found = read_sentences(speed(0.7, 0.3), facts(), names(), denials(), Score("1", 0.1, spans=(premise,)))
    assert found[0].features[0] == 0.1
    assert found[0].evidence == "source: A ferry turned back in the storm."


def test_without_entailment_its_feature_is_unknown() -> None:
    found = read_sentences(speed(0.7, 0.3), facts(), names(), denials())
    assert math.isnan(found[0].features[0]) and found[0].features[1] == 0.7


def test_unknown_features_count_as_average() -> None:
    assert RISK.of((math.nan,) * 6) == 0.5
    assert RISK.of((1.0, *(math.nan,) * 5)) == pytest.approx(1 / (1 + math.e))


def test_less_support_is_more_risk() -> None:
    risks = [RISK.of((x, 0.5, 0.5, y, 0.5, 0.5)) for x, y in ((1.0, 1.0), (1.0, 0.2), (-1.0, 0.2))]
    assert risks == sorted(risks) and len(set(risks)) == 3


def test_the_value_is_the_geometric_mean_of_the_sentences(tiny_check: Path) -> None:
    metric = catalog.build("check", model=str(tiny_check), runtime=Runtime(device="cpu"))
    score = metric.score([PAIR])[0]
    assert [(span.start, span.end) for span in score.spans] == [FIRST, SECOND]
    values = [span.value for span in score.spans]
    assert score.value == pytest.approx(math.sqrt(values[0] * values[1]))
    wrong = score.parts["wrong"]
    assert 1 - score.value < wrong < 1  # the tiny weights alarm late
    expected = {"mean": sum(values) / 2, "min": min(values), "sentences": 2.0, "wrong": wrong}
    assert score.parts == pytest.approx(expected)
    assert all(0 < value < 1 for value in values)
    assert all(span.note.startswith("source: ") for span in score.spans)


def test_without_a_source_there_is_no_answer(tiny_check: Path) -> None:
    metric = catalog.build("check", model=str(tiny_check), runtime=Runtime(device="cpu"))
    assert metric.score([Example("1", TEXT)])[0].problem == "the row has no source"


def test_each_feature_has_a_weight_and_a_mean() -> None:
    numbers = {"weights": dict.fromkeys(FEATURES, -1), "means": dict.fromkeys(FEATURES, 0)}
    whole: dict[str, object] = {"intercept": 1, "alarm": 0, **numbers}
    assert Risk.from_dict(whole).weights == (-1.0,) * 6
    with pytest.raises(KeyError, match="facts"):
        Risk.from_dict({**whole, "weights": {"entailment": -1, "similarity": -1}})


def test_support_is_one_half_at_the_level_of_alarm() -> None:
    risk = Risk(0.0, (-2.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.5,) * 6, alarm=1.0)
    assert risk.support((0.0, *(0.5,) * 5)) == pytest.approx(0.5)  # log-odds 1
    assert risk.of((0.0, *(0.5,) * 5)) == pytest.approx(1 / (1 + math.exp(-1)))
    far = Risk(-2000.0, (0.0,) * 6, (0.5,) * 6)
    assert far.of((math.nan,) * 6) < 1e-300 and far.support((math.nan,) * 6) == 1.0


def test_a_name_that_the_source_lacks_is_named(tiny_check: Path, tmp_path: Path) -> None:
    facts = json.loads((tiny_check / "config.json").read_text())
    facts |= {"weights": dict.fromkeys(FEATURES, 0.0) | {"names": -9.0}, "alarm": 0.0, "intercept": -4.5}
    facts["means"] |= {"names": 1.0}
    (tmp_path / "config.json").write_text(json.dumps(facts))
    metric = catalog.build("check", model=str(tmp_path), runtime=Runtime(device="cpu"))
    [score] = metric.score([Example("1", "A ferry turned back. It sank off Malta with 9 men.", PAIR.source)])
    first, second = score.spans
    assert first.value > 0.9 and second.value < 0.1
    assert second.note.endswith("; in doubt: “Malta” is not in the source; “9” is not in the source")
    assert "not in the source" not in first.note


def test_what_the_source_says_against_a_sentence_is_told(tmp_path: Path, tiny_check: Path) -> None:
    facts = json.loads((tiny_check / "config.json").read_text())
    facts |= {"weights": dict.fromkeys(FEATURES, 0.0) | {"denials": -9.0}, "alarm": 0.0, "intercept": -4.5}
    facts["means"] |= {"denials": 1.0}
    facts["members"]["denials"] = {"spec": "denials"}
    (tmp_path / "config.json").write_text(json.dumps(facts))
    metric = catalog.build("check", model=str(tmp_path), runtime=Runtime(device="cpu"))
    source = "Officials denied that the ferry sank off Malta. It turned back."
    [score] = metric.score([Example("1", "The ferry turned back. It sank off Malta.", source)])
    first, second = score.spans
    assert first.value > 0.9 and second.value < 0.1
    assert "; in doubt: “sank” is denied in the source (“denied”): Officials denied" in second.note


@pytest.mark.parametrize("name", ["check", "check-base"])
def test_a_denied_sentence_has_no_support_in_what_ships(name: str) -> None:
    _, facts_ = read_combination(f"gistmeter/{name}", KIND)
    assert Risk.from_dict(facts_).support((0.9, 1.0, 0.9, 0.9, 1.0, 0.0)) < 0.5


@pytest.mark.parametrize("name", ["check", "check-base"])
def test_a_copied_sentence_has_support_in_what_ships(name: str) -> None:
    _, facts_ = read_combination(f"gistmeter/{name}", KIND)
    risk = Risk.from_dict(facts_)
    for similarity in (0.0, 1.0):  # of the closest source sentence, of which it may be a small part
        for fact in (1.0, math.nan):  # a sentence may have no facts
            assert risk.support((1.0, similarity, fact, fact, 1.0, 1.0)) > 0.9
