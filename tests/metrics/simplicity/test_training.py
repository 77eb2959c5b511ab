"""Fine-tuning of the simplicity metric on tiny models: data, trained weights, and saved model."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from gistmeter import Example, catalog
from gistmeter.core.errors import BadModel, DataError, UsageError
from gistmeter.core.options import Preset
from gistmeter.metrics.simplicity import Simplicity, build, presets
from gistmeter.metrics.simplicity.training.task import MultiTask, mask_words, masked_model
from gistmeter.metrics.simplicity.training.train import read_labelled, train_simplicity
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files.adapters import base_of
from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer
from gistmeter.models.run.runtime import Runtime
from gistmeter.training.recipe import Recipe, Settings
from tests.tiny_frequencies import save_tables
from tests.tiny_models import SENTENCES

RUNTIME = Runtime(device="cpu")
SETTINGS = Settings(steps=30, learning_rate=1e-2, validate_every=10, checkpoint_every=15, select="-accuracy")
# Simple ones are short, so that even a tiny model can tell.
PAIRS = [
    (f"{text} {text} It was the {at}th time.", f"Rain {at} fell.") for at in range(8) for text in SENTENCES
]


def write(path: Path, rows: list[tuple[str, str]]) -> Path:
    lines = (json.dumps({"source": source, "candidate": candidate}) for source, candidate in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def recipe(model: Path, **wanted: object) -> Recipe:
    data = {"sets": [{"file": "pairs.jsonl"}], "parts": 4, "batch": 8, "window": 40}
    return Recipe(
        "simplicity", "mine", SETTINGS, data, {"name": str(model), "layer": 2, "layers": 1, **wanted}
    )


@pytest.fixture(scope="module")
def trained(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float]]:
    """Return an encoder tuned on the sentences of this test, with the metrics of its training."""
    folder = tmp_path_factory.mktemp("trained")
    write(folder / "pairs.jsonl", PAIRS)
    figures = train_simplicity(recipe(tiny_bert), folder, folder / "out", progress=False)
    return folder / "out" / "model", figures


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tables(tmp_path_factory.mktemp("tables")))


def test_sentences_by_hand(tmp_path: Path) -> None:
    source = "The old bridge was closed. Nobody was hurt at all. It fell -LRB- twice -RRB- in 1999."
    simple = "They closed the bridge. Nobody was hurt at all. Then it fell down. So sad."
    write(tmp_path / "one.jsonl", [(source, simple)])
    write(tmp_path / "pairs.jsonl", PAIRS)
    sets: list[dict[str, Any]] = [{"file": "one.jsonl", "sentences": True}, {"file": "pairs.jsonl"}]
    training, held_out = read_labelled(tmp_path, sets, 4, seed=1)
    assert sorted(facts for facts in training + held_out if facts[2] == "one") == [
        ("It fell ( twice ) in 1999.", False, "one"),
        ("The old bridge was closed.", False, "one"),
        ("Then it fell down.", True, "one"),
        ("They closed the bridge.", True, "one"),
    ], "what both hold, and what is too short, is left out"


def test_as_many_of_either_label_and_a_pair_on_one_side(tmp_path: Path) -> None:
    write(
        tmp_path / "pairs.jsonl", [*PAIRS, ("The same text on both sides.", "The same text on both sides.")]
    )
    training, held_out = read_labelled(tmp_path, [{"file": "pairs.jsonl"}], 4, seed=1)
    for side in (training, held_out):
        assert sum(simple for _, simple, _ in side) * 2 == len(side) > 10
    assert len(training) + len(held_out) == 2 * len(PAIRS)
    sides = [{text for text, _, _ in side} for side in (training, held_out)]
    for source, candidate in PAIRS:
        assert any({source, candidate} <= side for side in sides)


def test_masks_are_berts(tiny_bert: Path) -> None:
    tokenizer = load_tokenizer(find_model(str(tiny_bert)))
    ids = torch.full((100, 100), 17)
    special = torch.zeros_like(ids, dtype=torch.bool)
    special[:, :50] = True
    masked, chosen = mask_words(ids, special, tokenizer, torch.Generator().manual_seed(1))
    assert not (chosen & special).any()
    assert int(chosen.sum()) / 5_000 == pytest.approx(0.15, abs=0.02)
    share = (masked[chosen] == tokenizer.mask_token_id).float().mean()
    assert float(share) == pytest.approx(0.8, abs=0.05)
    assert float((masked[chosen] == 17).float().mean()) == pytest.approx(0.1, abs=0.05)
    assert (masked[~chosen] == 17).all()
    again = mask_words(ids, special, tokenizer, torch.Generator().manual_seed(1))
    assert torch.equal(again[0], masked)


def test_a_short_sentence_has_one_mask_at_least(tiny_bert: Path) -> None:
    tokenizer = load_tokenizer(find_model(str(tiny_bert)))
    special = torch.tensor([[True, False, True]])
    for seed in range(20):
        draws = torch.Generator().manual_seed(seed)
        _, chosen = mask_words(torch.tensor([[2, 17, 3]]), special, tokenizer, draws)
        assert chosen.tolist() == [[False, True, False]]


@pytest.mark.parametrize(("layers", "learning"), [(1, {"1", "2"}), (2, {"0", "1", "2"})])
def test_what_learns(tiny_bert: Path, layers: int, learning: set[str]) -> None:
    tokenizer = load_tokenizer(find_model(str(tiny_bert)))
    model = MultiTask(masked_model(str(tiny_bert), tokenizer, None), layer=2, layers=layers)
    names = [name for name, weight in model.named_parameters() if weight.requires_grad]
    assert {
        name.split(".")[4] for name in names if name.startswith("tuned.encoder.encoder.layer")
    } == learning
    assert not any("embeddings" in name for name in names)
    assert model.table is model.tuned.encoder.embeddings.word_embeddings.weight, "the head's table is theirs"
    whole = MultiTask(masked_model(str(tiny_bert), tokenizer, 2), layer=2, layers=0)
    assert all(weight.requires_grad for weight in whole.parameters())
    assert whole.tuned.encoder.config.num_hidden_layers == 2


def test_a_masked_models_own_head_is_taken(tiny_roberta_lm: Path) -> None:
    tokenizer = load_tokenizer(find_model(str(tiny_roberta_lm)))
    first, again = (masked_model(str(tiny_roberta_lm), tokenizer, None) for _ in range(2))
    assert torch.equal(first.lm_head.dense.weight, again.lm_head.dense.weight), "not a random one"


def test_it_learns_and_keeps_the_best(trained: tuple[Path, dict[str, float]]) -> None:
    folder, figures = trained
    history = json.loads((folder.parent / "history.json").read_text())
    assert figures["accuracy"] == max(point["accuracy"] for point in history["validations"]) > 0.9
    assert figures["accuracy_pairs"] == figures["accuracy"]
    assert figures["loss"] == pytest.approx((figures["mlm_loss"] + figures["identification_loss"]) / 2)
    assert history["validations"][-1]["mlm_loss"] < math.log(400), "better than any of 400 tokens"


def test_the_metric_takes_the_folder(
    trained: tuple[Path, dict[str, float]], tiny_bert: Path, tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(presets.PRESETS, "tuned", Preset(str(trained[0]), layer=2))
    options: dict[str, Any] = {"frequencies": tables, "value": "p_simple"}
    metric = build("tuned", None, RUNTIME, options)
    simple, original = metric.score([Example("1", "Rain 3 fell."), Example("2", PAIRS[3][0])])
    assert simple.problem is None, "it needs no reference"
    assert 0 <= original.value < 0.5 < simple.value <= 1
    assert math.isnan(simple.parts["f1"])
    assert simple.spans == ()
    assert "sha256:" in metric.signature.text
    assert "/layer2/" in metric.signature.text
    both = catalog.build("simplicity", model=str(trained[0]), options={"frequencies": tables})
    scored = both.score([Example("1", "Rain 3 fell.", references=("Rain fell.", "It rained."))])[0]
    assert scored.parts["p_simple"] == pytest.approx(simple.value, abs=1e-6)
    base = catalog.build("simplicity", model=str(tiny_bert), options={"frequencies": tables, "layer": 2})
    plain = base.score([Example("1", "Rain 3 fell.", references=("Rain fell.", "It rained."))])[0]
    assert "p_simple" not in plain.parts
    assert abs(plain.parts["f1"] - scored.parts["f1"]) > 1e-4, "the tuned layer is another one"


def test_below_the_head_the_encoder_is_its_base(
    trained: tuple[Path, dict[str, float]], tiny_bert: Path, tables: str
) -> None:
    tuned = Encoder.load(str(trained[0]), RUNTIME, layers=1)
    base = Encoder.load(str(tiny_bert), RUNTIME, layers=1)
    assert tuned.head is None
    [(_, ours)], [(_, theirs)] = (one.embed_tokens(["Rain fell."]) for one in (tuned, base))
    assert torch.equal(torch.tensor(ours), torch.tensor(theirs)), "layer 1 was frozen"
    with pytest.raises(UsageError, match="was not trained for it at this layer"):
        catalog.build(
            "simplicity",
            model=str(trained[0]),
            options={"frequencies": tables, "layer": 1, "value": "p_simple"},
        )
    with pytest.raises(UsageError, match="layer=3: choose a layer from 1 to 2"):
        Encoder.load(str(trained[0]), RUNTIME, layers=3)


def test_what_scores_is_what_was_trained(trained: tuple[Path, dict[str, float]], tiny_bert: Path) -> None:
    """Weights are stored in half precision; the probability equals that of the training code."""
    encoder = Encoder.load(str(trained[0]), RUNTIME)
    assert encoder.head is not None
    [(tokens, vectors)] = encoder.embed_tokens([PAIRS[0][0]])
    tokenizer = load_tokenizer(find_model(str(tiny_bert)))
    model = MultiTask(masked_model(str(tiny_bert), tokenizer, None), layer=2, layers=1).eval()
    with torch.inference_mode():
        ids = torch.tensor([tokens.ids])
        states = encoder.model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        model.tuned.head.weight.copy_(torch.tensor(encoder.head.weight[None]) / 32**0.5)
        model.tuned.head.bias.fill_(encoder.head.bias)
        logit = float(model.tuned.judge(states, torch.ones_like(ids)))
    assert encoder.head.probability(vectors) == pytest.approx(1 / (1 + math.exp(-logit)), abs=1e-6)


def test_a_damaged_folder_is_refused(trained: tuple[Path, dict[str, float]], tmp_path: Path) -> None:
    facts = json.loads((trained[0] / "config.json").read_text())
    facts["base"] = base_of(find_model(str(trained[0])))  # its path from here would be another
    weights = (trained[0] / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(weights)
    for change, said in (
        ({"base_identity": "another"}, "was trained on another"),
        ({"layers": 2}, "do not match its config.json"),
        ({"layer": None}, "is not valid"),
    ):
        (tmp_path / "config.json").write_text(json.dumps({**facts, **change}))
        with pytest.raises(BadModel, match=said):
            Encoder.load(str(tmp_path), RUNTIME)


def test_what_cannot_be_trained(tiny_bert: Path, tiny_t5: Path, tmp_path: Path) -> None:
    write(tmp_path / "pairs.jsonl", PAIRS)
    mine = recipe(tiny_bert)
    for change, said in (
        ({"model": {"name": str(tiny_bert)}}, r"add name and layer to \[model\], and file to"),
        ({"data": {**mine.data, "parts": 1}}, "data.parts=1: give at least 2"),
        ({"model": {**mine.model, "layer": 4}}, "layer=4, layers=1: choose layer from 1 to 3"),
        ({"model": {**mine.model, "depth": 9}}, "model.depth=9: .* has 3 layers"),
        ({"model": {**mine.model, "layres": 1}}, "no option 'layres'"),
    ):
        with pytest.raises(UsageError, match=said):
            train_simplicity(replace(mine, **change), tmp_path, tmp_path / "out", progress=False)
    with pytest.raises(BadModel, match="is a t5, which cannot be fine-tuned; use one of bert, roberta"):
        train_simplicity(recipe(tiny_t5), tmp_path, tmp_path / "out", progress=False)
    write(tmp_path / "pairs.jsonl", PAIRS[:1])
    with pytest.raises(DataError, match="no pair is left for training or validation"):
        train_simplicity(mine, tmp_path, tmp_path / "out", progress=False)


def test_recipes_are_read(tiny_bert: Path, tmp_path: Path) -> None:
    """The shipped recipes run with a tiny model and tiny data."""
    write(tmp_path / "wikilarge.jsonl", PAIRS)
    text = (Path(__file__).parents[3] / "recipes" / "simplicity-paper.toml").read_text(encoding="utf-8")
    text = text.replace("roberta-large@722cf37b1afa9454edce342e7895e588b6ff1d59", str(tiny_bert))
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("layer = 17", "layer = 2").replace("parts = 148", "parts = 4"))
    figures = catalog.train(path, tmp_path, tmp_path / "out", steps=2, progress=False)
    assert {"accuracy", "mlm_loss", "sentences"} <= figures.keys()
    assert isinstance(
        build("mini", str(tmp_path / "out" / "model"), RUNTIME, {"weight": "uniform"}), Simplicity
    )


@pytest.mark.slow
def test_what_ships_tells_simplified_sentences() -> None:
    simple = ["He was a painter.", "Many people live there.", "The town is small. It has one school."]
    original = [
        "He was among the foremost exponents of the movement that subsequently dominated landscape painting.",
        "The region, notwithstanding its inhospitable climate, sustains a considerable permanent population.",
        "The municipality, comprising several formerly autonomous settlements, maintains one primary school.",
    ]
    examples = [Example(str(at), text) for at, text in enumerate(simple + original)]
    metric = catalog.build("simplicity", preset="tuned", options={"value": "p_simple"})
    assert "gistmeter/simple@" in metric.signature.text
    values = [found.value for found in metric.score(examples)]
    assert min(values[:3]) > 0.5 > max(values[3:])
