"""Fit `check`: texts are wrong if one sentence is, and the recipe from files to weights."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from gistmeter.app.cli import main
from gistmeter.combined.support import FEATURES, Risk
from gistmeter.combined.training.check import fit
from gistmeter.core.example import Example
from gistmeter.core.score import Score, Span
from gistmeter.core.score_row import score_row
from gistmeter.core.signature import Signature
from tests.combined.test_check import TEXT, denials, facts, names, speed

TRUE = Risk(-1.0, (0.0, -4.0, 0.0, -2.0, 0.0, 0.0), (0.0, 0.6, 0.0, 0.4, 0.0, 0.0))


def made(n: int, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    """Return texts of one to four sentences, and the probability that each is wrong under `TRUE`."""
    draw = np.random.default_rng(seed)
    texts = []
    for _ in range(n):
        text = draw.uniform(size=(draw.integers(1, 5), len(FEATURES)))
        text[:, 0] = math.nan
        texts.append(text)
    return texts, np.array([TRUE.of_text(text.tolist()) for text in texts])


def test_the_fit_recovers_what_makes_a_sentence_wrong() -> None:
    texts, wrong = made(600)
    risk = fit(texts, wrong, ["one"] * 600)
    assert risk.weights[0] == 0.0  # never known
    assert risk.weights[1] == pytest.approx(-4.0, abs=0.6) and risk.weights[3] == pytest.approx(-2.0, abs=0.6)
    assert risk.weights[2] == pytest.approx(0.0, abs=0.3)


def test_a_given_weight_is_kept() -> None:
    texts, wrong = made(300)
    risk = fit(texts, wrong, ["one"] * 300, given={"denials": -5.0})
    assert risk.weights[FEATURES.index("denials")] == -5.0
    assert risk.weights[1] == pytest.approx(-4.0, abs=1.0)


def test_no_weight_rewards_less_support() -> None:
    texts, wrong = made(300)
    assert max(fit(texts, 1 - wrong, ["one"] * 300).weights) <= 0


def flagged(risk: Risk, texts: list[np.ndarray], right: np.ndarray) -> float:
    worst = [min(risk.support(sentence) for sentence in text.tolist()) for text in texts]
    return float((np.array(worst) < 0.5) @ right / right.sum())


def test_one_in_twenty_right_texts_has_an_unsupported_sentence() -> None:
    texts, wrong = made(600)
    assert flagged(fit(texts, wrong, ["one"] * 600), texts, 1 - wrong) == pytest.approx(0.05, abs=0.01)
    rare = fit(texts, wrong, ["one"] * 600, false_alarms=0.02)
    assert flagged(rare, texts, 1 - wrong) == pytest.approx(0.02, abs=0.01)
    often = np.clip(wrong + 0.3, 0, 1)  # people find errors in most texts
    assert flagged(fit(texts, often, ["one"] * 600), texts, 1 - often) == pytest.approx(0.05, abs=0.01)


def test_each_set_has_the_same_say() -> None:
    texts, wrong = made(220)
    sets = ["small"] * 20 + ["large"] * 200
    other = np.concatenate([wrong[:20], 1 - wrong[20:]])  # the large set says the contrary
    alone = fit(texts[20:], other[20:], sets[20:])
    both = fit(texts, other, sets)
    assert max(alone.weights) == pytest.approx(0.0, abs=1e-6)
    assert min(both.weights) < -0.5


RECIPE = """
task = "check"
[members.similarity]
spec = "speed:against=source"
[members.facts]
spec = "cloze"
[members.names]
spec = "names"
[members.denials]
spec = "denials"
[given]
denials = -5.0
[[sets]]
name = "mine"
rows = "rows.jsonl"
scores = "scores.jsonl"
dimension = "Factuality"
wrong = 0
right = 1
"""


def test_a_recipe_becomes_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, scores = [], []
    for at in range(40):
        good = at % 2
        row = {"id": str(at), "source": f"Ferry {at // 4}.", "candidate": TEXT, "doc_id": f"d{at // 4}"}
        rows.append(row | {"scores": {"Factuality": float(good)}})
        cosines = speed(0.9, 0.8 if good else 0.2 + at / 200)
        probabilities = facts(Span("candidate", 2, 7, 0.9 if good else 0.1, 1.0, "ferry (confidence .90)"))
        known = names() if good else names((2, 7))
        scored = {
            "speed:against=source": cosines,
            "cloze": probabilities,
            "names": known,
            "denials": denials(),
        }
        for label, score in scored.items():
            line = score_row(label, score, Signature.of("x", version=1), Example(str(at), TEXT, "A ferry."))
            scores.append({**line, "id": str(at)})
    # A text that no member could read has no sentence, and takes no part.
    unread = {"id": "none", "source": "A ferry.", "candidate": "…"}
    rows.append(unread | {"scores": {"Factuality": 0.0}})
    for label in ("speed:against=source", "cloze", "names", "denials"):
        undefined = Score.undefined("none", "the candidate has no sentence")
        line = score_row(label, undefined, Signature.of("x", version=1), Example("none", "…", "A ferry."))
        scores.append({**line, "id": "none"})
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scores))
    (tmp_path / "check.toml").write_text(RECIPE)
    words = ["train", str(tmp_path / "check.toml"), "--data", str(tmp_path)]
    assert main([*words, "--output", str(tmp_path / "out"), "--quiet"]) == 0
    assert "mine_r_by_document" in capsys.readouterr().out
    saved = json.loads((tmp_path / "out" / "model" / "config.json").read_text())
    assert Risk.from_dict(saved).weights[1] < 0 and Risk.from_dict(saved).weights[4] < 0
    assert Risk.from_dict(saved).weights[5] == -5.0
    assert json.loads((tmp_path / "out" / "measured.json").read_text())["mine_r_by_document"] > 0.8
