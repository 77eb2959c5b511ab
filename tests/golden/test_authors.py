"""The authors' own results: the log of MaskEval, and ClozE's code on a tiny model."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gistmeter.core.example import Example
from gistmeter.metrics.cloze import Cloze, ClozeOptions
from gistmeter.metrics.cloze.explain import read_note
from gistmeter.metrics.maskeval.tokenized import TokenizedText
from gistmeter.metrics.maskeval.weights import word_weights
from gistmeter.models.fill.load import load_filler
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.factors import load_pipeline
from gistmeter.text.words import Segment
from tests.golden.make_cloze_authors import GOLDEN as CLOZE
from tests.golden.make_cloze_authors import pairs, save_model
from tests.golden.make_maskeval_log import GOLDEN as LOG
from tests.golden.make_maskeval_log import golden


@pytest.fixture(scope="module")
def log() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(LOG.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("side", ["candidate", "source"])
def test_weights_of_the_log_follow_from_its_logits(log: dict[str, Any], side: str) -> None:
    """Equations 6 and 7: a softmax over the side's sub-words, and the sum of each word's sub-words."""
    own = log[side]
    ends = np.cumsum(own["subwords"]).tolist()
    words = [Segment(end - size, end - 1, 0, 0) for end, size in zip(ends, own["subwords"], strict=True)]
    logits = np.array([logit for word in own["logits"] for logit in word])
    found = word_weights(TokenizedText(tuple(range(len(logits))), tuple(words)), logits)
    assert len(words) == own["words"] == len(own["matches"])
    np.testing.assert_allclose(found, own["weights"], rtol=2e-5)
    assert float(found @ np.array(own["matches"])) == pytest.approx(own["learned"], abs=1e-6)


def test_scores_of_the_log(log: dict[str, Any]) -> None:
    """Equation 5 with uniform weights: 87 of 91 words of the candidate, 297 of 403 of the source."""
    assert [(sum(log[side]["matches"]), log[side]["words"]) for side in ("candidate", "source")] == [
        (87, 91),
        (297, 403),
    ]
    assert log["value"]["uniform"] == pytest.approx((87 / 91 + 297 / 403) / 2, abs=1e-6)
    assert log["value"]["learned"] == pytest.approx(0.916143, abs=1e-6)


def test_the_script_reads_a_log(tmp_path: Path) -> None:
    """By hand: candidate 1 of 2 words; weights .75 and .25, the first word matches: .75."""

    def word(side: str, match: int, weights: list[float]) -> dict[str, Any]:
        weight = {"weight_values": weights, "scores": weights}
        return {
            "masking": side,
            "ground_truth": "rain",
            "ground_truth_ids": list(range(len(weights))),
            "prediction_eval_metrics": {"exact_match": match},
            "weight": weight,
        }

    masked = [word("hyp", 1, [0.5, 0.25]), word("hyp", 0, [0.25]), word("ref", 1, [1.0])]
    facts = {"id": "x", "hyp_text": "a b", "ref_text": "a", "expert_annotations": [{"coherence": 4}]}
    found = golden({**facts, "masked": masked})
    assert found["candidate"]["subwords"] == [2, 1]
    assert (found["candidate"]["uniform"], found["candidate"]["learned"]) == (0.5, 0.75)
    assert found["value"] == {"uniform": 0.75, "learned": 0.875}
    assert "a b" not in json.dumps(found), "no text"


def bare(text: str) -> str:
    return "".join(text.split())


def test_cloze_answers_as_the_authors_code_does(tmp_path: Path) -> None:
    """The same factors, answers, F1 and confidences as the authors' code on the same model and pipeline."""
    found = json.loads(CLOZE.read_text(encoding="utf-8"))["pairs"]
    rows = pairs()
    assert [one["id"] for one in found] == [row["id"] for row in rows]
    assert sum(len(one["factors"]) for one in found) >= 364
    filler = load_filler(str(save_model(tmp_path)), Runtime(device="cpu"))
    metric = Cloze(filler, load_pipeline("en"), ClozeOptions(confidence=False))
    scores = metric.score([Example(row["id"], row["candidate"], row["source"]) for row in rows])
    for one, row, score in zip(found, rows, scores, strict=True):
        spans = [span for span in score.spans if span.weight]
        for (factor, answer, f1, confidence), span in zip(one["factors"], spans, strict=True):
            said = read_note(span.note)
            assert said is not None
            assert bare(row["candidate"][span.start : span.end]) == bare(factor)
            assert bare(said.text) == bare(answer), (row["id"], factor)
            assert span.value == pytest.approx(f1, abs=1e-6), (row["id"], factor)
            assert said.confidence == pytest.approx(confidence, abs=0.00501), "shown with two digits"
        mean = np.mean([confidence for *_, confidence in one["factors"]])
        assert score.parts["confidence"] == pytest.approx(mean, abs=1e-5)
