"""Test models that return non-finite numbers: affected rows get a problem, other rows a score."""

import json
import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file, save_file

from gistmeter.app.cli import main
from gistmeter.core.errors import NotFinite
from gistmeter.core.example import Example
from gistmeter.core.metric import score_sound
from gistmeter.core.score import Score
from tests.tiny_models import SENTENCES

METRICS = {
    "bertscore:against=source,layer=1": "tiny_bert",
    "speed:against=source": "tiny_bert",
    "speed:against=source,mode=cross": "tiny_cross_encoder",
    "cloze:copied=false": "tiny_roberta_lm",
    "cloze:copied=false,k=2": "tiny_copy_infiller",
    "maskeval:dimension=none": "tiny_t5",
    "sumqe": "tiny_regressor",
    "simplicity": "tiny_bert",
    "simplicity:value=p_simple": "tiny_tuned",
}


def broken(folder: Path, to: Path, value: float) -> Path:
    """Copy a model, all its weights one number; of a model that builds on another, its own."""
    shutil.copytree(folder, to)
    tensors = load_file(to / "model.safetensors")
    for tensor in tensors.values():
        tensor[...] = value
    save_file(tensors, to / "model.safetensors", {"format": "pt"})
    return to


def rows_of(tmp_path: Path, metric: str, model: Path) -> list[dict[str, Any]]:
    """Score three rows and return what was written."""
    path = tmp_path / "rows.jsonl"
    shared = {"source": " ".join(SENTENCES), "references": [" ".join(SENTENCES[::-1])]}
    rows = [{"id": str(at), "candidate": text, **shared} for at, text in enumerate(SENTENCES)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "out.jsonl"
    out.unlink(missing_ok=True)
    code = main(["score", metric, "-i", str(path), "-o", str(out), "--model", str(model), "--quiet"])
    assert code == (
        0 if any(json.loads(line)["problem"] is None for line in out.read_text().splitlines()) else 3
    )
    return [json.loads(line) for line in out.read_text().splitlines()]


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("metric", METRICS)
def test_weights_that_are_no_numbers_are_a_problem_of_each_row(
    metric: str, value: float, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    model = broken(request.getfixturevalue(METRICS[metric]), tmp_path / "model", value)
    rows = rows_of(tmp_path, metric, model)
    assert len(rows) == len(SENTENCES)
    for row in rows:
        assert row["value"] is None
        assert "not finite" in row["problem"] or "no factor" in row["problem"]
    assert any("not finite" in row["problem"] for row in rows)


@pytest.mark.parametrize("name", ["head.weight", "head.bias"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_text_head_that_is_not_finite_is_a_problem_of_each_row(
    name: str, value: float, tiny_tuned: Path, tmp_path: Path
) -> None:
    model = Path(shutil.copytree(tiny_tuned, tmp_path / "model"))
    tensors = load_file(model / "model.safetensors")
    tensors[name][...] = value
    save_file(tensors, model / "model.safetensors", {"format": "pt"})
    rows = rows_of(tmp_path, "simplicity:value=p_simple", model)
    assert [row["value"] for row in rows] == [None] * len(SENTENCES)
    assert all("not finite" in row["problem"] for row in rows)


@pytest.mark.parametrize("metric", ["simplicity", "speed"])
def test_one_number_of_minus_infinity_is_a_problem_of_each_row(
    metric: str, tiny_bert: Path, tmp_path: Path
) -> None:
    model = Path(shutil.copytree(tiny_bert, tmp_path / "model"))
    tensors = load_file(model / "model.safetensors")
    tensors["encoder.layer.2.output.LayerNorm.bias"][0] = -math.inf
    save_file(tensors, model / "model.safetensors", {"format": "pt"})
    rows = rows_of(tmp_path, metric, model)
    assert all("not finite" in row["problem"] for row in rows)


def test_one_word_that_is_no_number_costs_only_the_rows_with_it(tiny_bert: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(tiny_bert, tmp_path / "model"))
    path = tmp_path / "rows.jsonl"
    words = ["rain", "bridge", "ferry", "bridge", "hills"]
    path.write_text("".join(json.dumps({"candidate": w, "references": ["the house"]}) + "\n" for w in words))

    def values() -> list[float | None]:
        out = tmp_path / "out.jsonl"
        command = ["score", "speed", "-i", str(path), "-o", str(out), "--model", str(model), "--quiet"]
        assert main(command) == 0
        found = [json.loads(line)["value"] for line in out.read_text().splitlines()]
        out.unlink()
        return found

    before = values()
    vocabulary = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
    tensors = load_file(model / "model.safetensors")
    tensors["embeddings.word_embeddings.weight"][vocabulary["bridge"]] = math.nan
    save_file(tensors, model / "model.safetensors", {"format": "pt"})
    after = values()
    assert [value is None for value in after] == [word == "bridge" for word in words]
    pairs = [(one, two) for one, two in zip(before, after, strict=True) if two is not None]
    assert all(one == pytest.approx(two, abs=1e-6) for one, two in pairs)


def test_the_guard_asks_again_no_more_than_it_must() -> None:
    calls: list[int] = []

    def score(examples: Sequence[Example]) -> list[Score]:
        calls.append(len(examples))
        if any(example.candidate == "bad" for example in examples):
            raise NotFinite("no numbers")
        return [Score(example.id, 1.0) for example in examples]

    examples = [Example(str(at), "bad" if at == 5 else "good") for at in range(64)]
    scores = score_sound(examples, (), score)
    assert [score.id for score in scores] == [example.id for example in examples]
    assert [score.problem for score in scores if score.problem] == ["no numbers"]
    assert len(calls) == 1 + 2 * 6, "it halves"
