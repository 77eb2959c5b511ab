"""The authors' own results: the log of MaskEval, and ClozE's code on a tiny model."""

import json
import subprocess
import sys
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

ROOT = Path(__file__).parents[2]


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


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, tuple[str, float, float]]]:
    """Return for each pair the answer, F1 and confidence of each factor, by its text without white space."""
    folder = save_model(tmp_path_factory.mktemp("tiny"))
    options = ClozeOptions(confidence=False)
    metric = Cloze(load_filler(str(folder), Runtime(device="cpu")), load_pipeline("en"), options)
    scores = metric.score([Example(row["id"], row["candidate"], row["source"]) for row in pairs()])
    found = []
    for row, score in zip(pairs(), scores, strict=True):
        own = {}
        for at, span in enumerate(span for span in score.spans if span.weight):
            answer = read_note(span.note)
            assert answer is not None
            own[f"{at} {bare(row['candidate'][span.start : span.end])}"] = (
                answer.text,
                span.value,
                answer.confidence,
            )
        found.append(own)
    return found


def bare(text: str) -> str:
    return "".join(text.split())


def test_cloze_answers_as_the_authors_code_does(ours: list[dict[str, tuple[str, float, float]]]) -> None:
    golden_pairs = json.loads(CLOZE.read_text(encoding="utf-8"))["pairs"]
    assert [one["id"] for one in golden_pairs] == [row["id"] for row in pairs()]
    assert sum(len(one["factors"]) for one in golden_pairs) >= 364
    for one, own in zip(golden_pairs, ours, strict=True):
        theirs = {f"{at} {bare(factor)}": rest for at, (factor, *rest) in enumerate(one["factors"])}
        assert list(own) == list(theirs), one["id"]
        for factor, (answer, f1, confidence) in theirs.items():
            said, value, sure = own[factor]
            assert value == pytest.approx(f1, abs=1e-6), (one["id"], factor)
            assert sure == pytest.approx(confidence, abs=0.00501), "shown with two digits"
            assert bare(said) == bare(answer), (one["id"], factor)


def test_scripts_say_what_they_need() -> None:
    for name in ("make_cloze_authors", "make_maskeval_log"):
        run = subprocess.run(
            [sys.executable, "-m", f"tests.golden.{name}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 2
        assert "the following arguments are required" in run.stderr
