"""Test the contract that every metric of the catalog must meet."""

import dataclasses
import json
import math
import pickle
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.score import Score
from gistmeter.core.score_row import score_row
from tests.laws.variants import (
    CASES,
    MOST_CHARACTERS,
    ORDINARY,
    SOME_CHARACTERS,
    build,
    choices,
    is_first_adapter,
    odd_texts,
    variants,
)

TOLERANCE = 2e-5
# The value of a text compared with itself; a new metric must say what it is.
OF_ITSELF = {
    "simplicity": 1.0,
    "speed": 1.0,
    "bertscore": 1.0,
    "moverscore": 1.0,
    "sms": 1.0,
    # Even a copy has one chunk, which the penalty counts.
    "meteor": None,
    "rouge": 1.0,
    "bleu": 100.0,
    "chrf": 100.0,
    "length_ratio": 1.0,
    "novelty": 0.0,
    "names": 1.0,
    "denials": 1.0,
    "extractive": 1.0,
    "content": 1.0,
    # The first sentences of the source weigh more than those of the copy.
    "centroid": None,
    # Nothing is to be added or deleted, and nothing is: two of the three parts have no say.
    "sari": None,
    # What a random model fills in decides.
    "maskeval": None,
    "cloze": None,
    "likelihood": None,
    # It looks at one text only.
    "sumqe": None,
    "surface": None,
    # What their members are decides.
    "quality": None,
    "check": None,
}


@pytest.fixture(params=CASES, ids="-".join)
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    name, fixture = request.param
    return name, fixture


@pytest.fixture
def name(case: tuple[str, str]) -> str:
    return case[0]


@pytest.fixture
def model(case: tuple[str, str], request: pytest.FixtureRequest) -> Path:
    folder: Path = request.getfixturevalue(case[1])
    return folder


def assert_same(left: Sequence[Score], right: Sequence[Score], what: str) -> None:
    assert [score.id for score in left] == [score.id for score in right], what
    for ours, theirs in zip(left, right, strict=True):
        assert ours.problem == theirs.problem, what
        assert ours.flags == theirs.flags, what
        np.testing.assert_allclose(ours.value, theirs.value, atol=TOLERANCE, rtol=TOLERANCE, err_msg=what)
        assert ours.parts.keys() == theirs.parts.keys(), what
        for part, value in ours.parts.items():
            np.testing.assert_allclose(
                value, theirs.parts[part], atol=TOLERANCE, rtol=TOLERANCE, err_msg=what
            )
        assert [(s.side, s.index, s.start, s.end) for s in ours.spans] == [
            (s.side, s.index, s.start, s.end) for s in theirs.spans
        ], what


def assert_sound(metric: Metric, examples: Sequence[Example], what: str) -> None:
    """Scores are one an example, well-formed, with spans inside the text, and fit into a row of JSON."""
    scores = metric.score(examples)
    assert [score.id for score in scores] == [example.id for example in examples], what
    for example, score in zip(examples, scores, strict=True):
        assert math.isnan(score.value) == (score.problem is not None), what
        assert not math.isinf(score.value), what
        texts = {(side, index): text for side, index, text in example.texts()}
        for span in score.spans:
            text = texts[span.side, span.index]
            assert 0 <= span.start < span.end <= len(text), (what, span)
            assert span.weight >= 0, (what, span)
            assert text[span.start : span.end].strip(), (what, span)
        assert_spans_add_up(score, what)
        json.dumps(score_row("label", score, metric.signature, example), allow_nan=False)


def assert_spans_add_up(score: Score, what: str) -> None:
    """The weighted mean of one side's spans is the value, or one of the parts."""
    sides = defaultdict(list)
    for span in score.spans:
        if span.weight > 0 and not math.isnan(span.value):
            sides[span.side].append((span.value, span.weight))
    for side, pairs in sides.items():
        values, weights = np.array(pairs).T
        mean = float(values @ weights / weights.sum())
        known = [score.value, *score.parts.values()]
        assert any(math.isclose(mean, value, abs_tol=1e-5) for value in known), (what, side, mean, known)


# Those whose value is no mean over places in a text: counts of n-grams, or of characters, of the whole.
WITHOUT_SPANS = {"meteor", "rouge", "bleu", "chrf", "sari", "length_ratio", "surface", "quality"}


def test_every_value_is_explained_by_spans(name: str, model: Path) -> None:
    weighted = [
        label
        for label, metric in variants(name, model)
        for score in metric.score(ORDINARY[:1])
        if any(span.weight > 0 for span in score.spans)
    ]
    assert bool(weighted) != (name in WITHOUT_SPANS), "no spans to check, so say in WITHOUT_SPANS why"


def test_options_that_are_numbers_vary(name: str, model: Path) -> None:
    metric = build(name, model)
    options: Any = metric.options  # type: ignore[attr-defined]
    numbers = {
        option
        for option in (field.name for field in dataclasses.fields(options))
        if isinstance(getattr(options, option), int | float)
        and not isinstance(getattr(options, option), bool)
    }
    tried = {option for option, _ in choices(metric)}
    assert numbers <= tried, f"{numbers - tried} of {name} never vary"


def test_order_permutation_and_splits_change_no_score(name: str, model: Path) -> None:
    for label, metric in variants(name, model):
        whole = metric.score(ORDINARY)
        assert_same(metric.score(ORDINARY[::-1])[::-1], whole, f"{label}: reversed")
        assert_same(metric.score(ORDINARY[:1]) + metric.score(ORDINARY[1:]), whole, f"{label}: split")
        assert_same([metric.score([example])[0] for example in ORDINARY], whole, f"{label}: one by one")
        assert_same(metric.score(ORDINARY * 2), whole * 2, f"{label}: doubled")
        assert metric.score([]) == []


def test_batch_size_changes_no_score(name: str, model: Path) -> None:
    pairs = zip(variants(name, model, batch_tokens=8), variants(name, model, batch_tokens=4096), strict=True)
    for (label, small), (_, large) in pairs:
        assert_same(small.score(ORDINARY), large.score(ORDINARY), label)
        assert small.signature == large.signature, "a batch size decides no number"


def test_bfloat16_scores_the_same_texts_and_says_so(name: str, model: Path) -> None:
    full, half = build(name, model), build(name, model, bf16=True)
    exact, rounded = full.score(ORDINARY), half.score(ORDINARY)
    assert [score.problem for score in rounded] == [score.problem for score in exact]
    values = [[score.value for score in scores] for scores in (exact, rounded)]
    if not np.array_equal(values[0], values[1], equal_nan=True):
        assert half.signature != full.signature


def test_ordinary_texts_are_scored(name: str, model: Path) -> None:
    for label, metric in variants(name, model):
        assert_sound(metric, ORDINARY, label)
        for example, score in zip(ORDINARY, metric.score(ORDINARY), strict=True):
            if example.source and example.references and len(example.candidate.split()) > 4:
                assert score.problem is None, (label, score)


@pytest.mark.slow
def test_odd_texts_never_stop_a_metric(name: str, model: Path) -> None:
    plain = "The ferry left."
    for label, metric in variants(name, model):
        # Every word of a long text is a query: the defaults of the first adapter have the longest texts.
        characters = MOST_CHARACTERS if label == name else SOME_CHARACTERS
        examples = [
            Example(f"{number}-{at}", *texts)
            for number, odd in enumerate(odd_texts(characters if is_first_adapter(name, model) else 0))
            for at, texts in enumerate(
                [(odd, plain, (plain,)), (plain, odd, (odd, plain)), (odd, odd, (odd,))]
            )
        ]
        assert_sound(metric, examples, label)


TEXTS = st.lists(st.text(max_size=60), min_size=3, max_size=5)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=TEXTS)
def test_any_text_is_scored_or_has_its_problem(name: str, model: Path, texts: list[str]) -> None:
    metric = build(name, model)
    assert_sound(metric, [Example("1", texts[0], texts[1], tuple(texts[2:]))], name)


@pytest.mark.nightly
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=TEXTS, data=st.data())
def test_any_text_with_any_option(name: str, model: Path, texts: list[str], data: st.DataObject) -> None:
    asked: list[dict[str, Any]] = [{}, *({option: choice} for option, choice in choices(build(name, model)))]
    options = data.draw(st.sampled_from(asked))
    metric = build(name, model, **options)
    assert_sound(metric, [Example("1", texts[0], texts[1], tuple(texts[2:]))], name)


def test_a_text_compared_with_itself(name: str, model: Path) -> None:
    assert name in OF_ITSELF, f"say in OF_ITSELF what {name} gives a text compared with itself"
    text = "The ferry left the harbour at noon. Forty passengers were on board."
    score = build(name, model).score([Example("1", text, text, (text,))])[0]
    if OF_ITSELF[name] is not None:
        assert score.value == pytest.approx(OF_ITSELF[name], abs=1e-5)


def test_what_is_missing_is_said(name: str, model: Path) -> None:
    for label, metric in variants(name, model):
        bare, empty = metric.score([Example("1", "Rain fell."), Example("2", " ", "Rain.", ("Rain.",))])
        assert (bare.problem is not None) == bool(metric.needs), label
        assert empty.problem == "the candidate is empty", label
        assert empty.flags[0].name == "empty_side", label


def test_a_copy_sent_to_another_process_scores_the_same(name: str, model: Path) -> None:
    metric = build(name, model)
    copy = pickle.loads(pickle.dumps(metric))
    assert_same(copy.score(ORDINARY), metric.score(ORDINARY), name)
    assert copy.signature == metric.signature


def test_every_choice_has_a_signature_of_its_own(name: str, model: Path) -> None:
    signatures = [metric.signature for _, metric in variants(name, model)]
    assert len({signature.hash for signature in signatures}) == len(signatures)
    again = [metric.signature for _, metric in variants(name, model)]
    assert again == signatures
    for signature in signatures:
        assert signature.text.startswith(f"{name}|version=")
        assert str(model) not in signature.text, "a path decides no number"


def test_a_score_is_not_changed_by_fields_a_metric_does_not_need(name: str, model: Path) -> None:
    metric = build(name, model)
    example = ORDINARY[0]
    renamed = dataclasses.replace(example, system="other", doc_id=None)
    assert_same(metric.score([example]), metric.score([renamed]), name)
