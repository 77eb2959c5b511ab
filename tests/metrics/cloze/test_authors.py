"""Compare ClozE with what the authors' code fills in and scores; see tests/golden/make_cloze_authors.py."""

import json

import numpy as np
import pytest

from gistmeter.core.score import Score
from gistmeter.metrics.cloze import Cloze
from gistmeter.metrics.cloze.explain import read_note
from gistmeter.models.fill.load import load_filler
from gistmeter.models.run.runtime import Runtime
from tests.metrics.cloze.authors import GOLDEN, cloze_pipeline, read_examples, save_model

ROWS = json.loads(GOLDEN.read_text(encoding="utf-8"))["rows"]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> list[Score]:
    folder = tmp_path_factory.mktemp("cloze-authors")
    save_model(folder)
    return Cloze(load_filler(str(folder), Runtime(device="cpu")), cloze_pipeline()).score(read_examples())


def test_every_fill_confidence_and_score_equals_the_authors(scores: list[Score]) -> None:
    assert sum(len(row["factors"]) for row in ROWS) > 300
    for example, row, score in zip(read_examples(), ROWS, scores, strict=True):
        assert row["id"] == score.id
        spans = [span for span in score.spans if span.weight]
        assert len(spans) == len(row["factors"]), score.id
        for span, (factor, answer, sure, value) in zip(spans, row["factors"], strict=True):
            assert example.candidate[span.start : span.end].split() == factor.split()
            said = read_note(span.note)
            assert said is not None and said.text == answer
            assert said.confidence == pytest.approx(sure, abs=0.00501)
            assert span.value == pytest.approx(value, abs=1e-9)
        assert score.value == pytest.approx(row["value"], abs=1e-8)
        assert score.parts["confidence"] == pytest.approx(
            np.mean([sure for *_, sure, _ in row["factors"]]), abs=2e-5
        )


def test_the_rows_show_something() -> None:
    values = [value for row in ROWS for *_, value in row["factors"]]
    assert 0.0 in values and len({round(value, 3) for value in values}) > 5
    assert len({answer for row in ROWS for _, answer, *_ in row["factors"]}) > 100
