"""Test that an encoder learns the token similarities of another one, on tiny models."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from gistmeter.core.errors import BadModel, DataError, UsageError
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files.adapted import adapted_encoder
from gistmeter.models.run.runtime import Runtime
from gistmeter.training.recipe import Recipe, Settings
from gistmeter.training.recipes.similarities import (
    SimilarityData,
    SimilarityTask,
    compared,
    read_texts,
    train_similarities,
)
from tests.tiny_models import SENTENCES
from tests.tiny_mpnet import save_mpnet

CPU = Runtime(device="cpu", cache_mb=0)
SETTINGS = Settings(steps=40, learning_rate=1e-2, validate_every=20, checkpoint_every=20)
PAIRS = [(f"{text} It was the {at}th time.", text) for at in range(12) for text in SENTENCES]


def write(folder: Path) -> None:
    lines = (json.dumps({"source": source, "candidate": candidate}) + "\n" for source, candidate in PAIRS)
    (folder / "pairs.jsonl").write_text("".join(lines), encoding="utf-8")


def recipe(student: Path, teacher: Path, **wanted: object) -> Recipe:
    data = {"sets": [{"file": "pairs.jsonl"}], "batch": 8, "window": 24, "validation": 6}
    model = {"base": str(student), "teacher": str(teacher), "teacher_layer": 2, "layers": 2, "rank": 8}
    return Recipe("similarities", "mine", SETTINGS, data, {**model, **wanted})


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder with the same words in another numbering."""
    return save_mpnet(tmp_path_factory.mktemp("teacher") / "mpnet")


@pytest.fixture(scope="module")
def trained(tiny_bert: Path, mpnet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("taught")
    write(folder)
    figures = train_similarities(recipe(tiny_bert, mpnet), folder, folder / "out", progress=False)
    assert figures["pairs"] > len(PAIRS) / 2
    return folder / "out"


def similarities(encoder: Encoder) -> list[np.ndarray]:
    vectors = [own for _, own in encoder.embed_tokens([text for pair in PAIRS[:12] for text in pair])]
    return [left @ right.T for left, right in zip(vectors[::2], vectors[1::2], strict=True)]


def test_the_encoder_learns_the_similarities(trained: Path, tiny_bert: Path, mpnet: Path) -> None:
    wanted = similarities(Encoder.load(str(mpnet), CPU, layers=2))
    errors = [
        np.mean([np.square(own - other).mean() for own, other in zip(found, wanted, strict=True)])
        for found in (
            similarities(Encoder.load(str(path), CPU, layers=2)) for path in (tiny_bert, trained / "model")
        )
    ]
    assert errors[1] < 0.6 * errors[0]
    history = json.loads((trained / "history.json").read_text())
    assert history["validations"][-1]["best_error"] < history["validations"][0]["best_error"]


def test_the_saved_model_holds_updates_only_and_keeps_fewer_layers(trained: Path) -> None:
    facts = json.loads((trained / "model" / "config.json").read_text())
    assert (facts["model_type"], facts["rank"], facts["layers"]) == ("gistmeter-updated-encoder", 8, 2)
    whole, first = (Encoder.load(str(trained / "model"), CPU, layers=layers) for layers in (None, 1))
    assert whole.identity != first.identity
    assert "/layer2/" in whole.identity
    assert whole.model.config.num_hidden_layers == 2
    assert first.model.config.num_hidden_layers == 1
    with pytest.raises(UsageError, match="choose a layer from 1 to 2"):
        Encoder.load(str(trained / "model"), CPU, layers=3)


def test_a_damaged_configuration_is_refused(trained: Path, tiny_bert: Path, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes((trained / "model" / "model.safetensors").read_bytes())
    facts = json.loads((trained / "model" / "config.json").read_text()) | {"base": str(tiny_bert)}
    for change, problem in (
        ({"rank": "x"}, "not valid"),
        ({"rank": 4}, "do not match"),
        ({"layers": 1}, "do not match"),
    ):
        (tmp_path / "config.json").write_text(json.dumps(facts | change))
        with pytest.raises(BadModel, match=problem):
            Encoder.load(str(tmp_path), CPU)


def test_an_encoder_is_already_as_its_equal(tiny_bert: Path) -> None:
    model, tokenizer = adapted_encoder(str(tiny_bert), 4)
    teacher = Encoder.load(str(tiny_bert), CPU)
    task = SimilarityTask(
        model.eval(), tokenizer, teacher, (PAIRS, PAIRS[:5]), SimilarityData(batch=3), seed=1
    )
    assert float(task.loss(0).detach()) == pytest.approx(0, abs=1e-9)
    assert task.validate() == pytest.approx({"loss": 0, "similarity_error": 0, "best_error": 0}, abs=1e-5)


def test_the_best_similarity_is_with_a_token_of_the_other_text() -> None:
    left = normalize(torch.tensor([[[1.0, 0.0], [1.0, 0.1]]]), dim=-1)
    right = normalize(torch.tensor([[[0.0, 1.0], [9.0, 9.0], [1.0, 0.0]]]), dim=-1)
    on = torch.tensor([[True, True]]), torch.tensor([[True, True, False]])
    found = compared((left, on[0]), (right, on[1]))
    assert found.all.shape == (1, 5, 5)
    expected = [(left[0, at] @ right[0, :2].T).max() for at in range(2)]
    expected += [(right[0, at] @ left[0].T).max() for at in range(2)]
    torch.testing.assert_close(found.best[0, :4], torch.stack(expected))
    assert found.tokens.tolist() == [[True, True, True, True, False]]


def test_sentences_of_documents_are_paired_by_their_words(tmp_path: Path) -> None:
    rows = [
        {
            "source": f"The mayor of town {at} left. Rain fell on the hills.",
            "candidate": "Rain fell on hills.",
        }
        for at in range(60)
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sides = read_texts(tmp_path, [{"file": "pairs.jsonl", "sentences": True}], seed=1)
    pairs = [pair for side in sides for pair in side]
    assert len(pairs) == 60
    closest = sum(source == "Rain fell on the hills." for source, _ in pairs)
    assert 48 <= closest < 60  # some are random on purpose
    assert sides == read_texts(tmp_path, [{"file": "pairs.jsonl", "sentences": True}], seed=1)


def test_bad_recipes_and_teachers_are_refused(
    tiny_bert: Path, tiny_roberta: Path, mpnet: Path, tmp_path: Path
) -> None:
    write(tmp_path)
    good = recipe(tiny_bert, mpnet)

    def run(changed: Recipe) -> None:
        train_similarities(changed, tmp_path, tmp_path / "out", progress=False)

    changes: list[dict[str, Any]] = [
        {"model": {}},
        {"data": {**good.data, "sets": []}},
        {"data": {**good.data, "batch": 0}},
    ]
    for change in changes:
        with pytest.raises(UsageError):
            run(replace(good, **change))
    with pytest.raises(UsageError, match="layer=9"):
        run(recipe(tiny_bert, mpnet, teacher_layer=9))
    with pytest.raises(BadModel, match="other tokens"):
        run(recipe(tiny_bert, tiny_roberta))
    (tmp_path / "pairs.jsonl").write_text(json.dumps({"source": "One.", "candidate": "One."}) + "\n")
    with pytest.raises(DataError, match="no pair is left"):
        run(good)
