"""Test regressors: predictions, saved files, and rejected files."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.metrics.sumqe.qualities import QUALITIES
from gistmeter.models.files.adapters import name_from, name_in, save_tuned
from gistmeter.models.files.find import find_model
from gistmeter.models.rate.bigru import BiGru
from gistmeter.models.rate.files import (
    QUALITY_REGRESSOR,
    RegressorPlan,
    facts_of,
    joined,
    load_regressor,
    new_regressor,
)
from gistmeter.models.rate.regressor import Flavour, QualityRegressor
from gistmeter.models.rate.text_regressor import TextRegressor
from gistmeter.models.run.runtime import Runtime
from tests.tiny_models import SENTENCES, save_bert
from tests.tiny_regressor import save_regressor

RUNTIME = Runtime(device="cpu", batch_tokens=64)


def rows_of(regressor: TextRegressor) -> list[tuple[int, ...]]:
    tokens = regressor.tokenize(SENTENCES)
    return [regressor.row([ids[:9]]) for ids in tokens] + [regressor.row([ids[:4] for ids in tokens[:3]])]


@pytest.mark.parametrize("flavour", ["s1", "m1", "m5"])
@pytest.mark.parametrize("encoder", ["transformer", "bigru"])
def test_a_rater_is_saved_and_loaded(tmp_path: Path, flavour: Flavour, encoder: str) -> None:
    folder = save_regressor(tmp_path, flavour, encoder=encoder)
    first, second = (TextRegressor.load(str(folder), RUNTIME) for _ in range(2))
    found = first.rate(rows_of(first))
    assert found.shape == (6, 5) and np.ptp(found, axis=0).min() > 1e-5, (
        "a regressor that rates all texts alike"
    )
    np.testing.assert_array_equal(second.rate(rows_of(second)), found)
    # Saved again, it is the same to the last bit: nothing but float16 is lost, and that only once.
    model, _, plan = load_regressor(find_model(str(folder)))
    save_tuned(model, str(folder / "base"), folder / "again", kind=QUALITY_REGRESSOR, facts=facts_of(plan))
    again = TextRegressor.load(str(folder / "again"), RUNTIME)
    np.testing.assert_array_equal(again.rate(rows_of(again)), found)


@pytest.mark.parametrize(("layers", "trained"), [(1, "layer.2."), (0, "layer.")])
def test_low_rank_updates_are_saved_in_place_of_the_layers(tmp_path: Path, layers: int, trained: str) -> None:
    save_bert(tmp_path / "base")
    plan = RegressorPlan(QUALITIES, layers=layers, window=40, rank=2)
    model, _, plan = new_regressor(str(tmp_path / "base"), plan)
    own = [name for name, weight in model.named_parameters() if weight.requires_grad]
    assert all("heads" in name or (trained in name and name.endswith((".up", ".down"))) for name in own)
    torch.manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith(".up"):
                weight.copy_(torch.randn_like(weight).half())
            elif weight.requires_grad:
                weight.copy_(weight.half())
    save_tuned(model, str(tmp_path / "base"), tmp_path / "low", kind=QUALITY_REGRESSOR, facts=facts_of(plan))
    loaded = TextRegressor.load(str(tmp_path / "low"), RUNTIME)
    batch = loaded.batch(rows_of(loaded))
    with torch.no_grad():
        expected = model.eval()(*batch).numpy()
    np.testing.assert_allclose(loaded.rate(rows_of(loaded)), expected, atol=1e-4)
    plain, _, _ = new_regressor(str(tmp_path / "base"), replace(plan, rank=0))
    with torch.no_grad():
        assert np.abs(plain.encoders[0](*batch).numpy() - model.encoders[0](*batch).numpy()).max() > 0.01


def test_a_regressor_that_was_saved_without_a_rank_has_none(tmp_path: Path) -> None:
    folder = save_regressor(tmp_path)
    facts = json.loads((folder / "config.json").read_text())
    del facts["rank"]
    (folder / "config.json").write_text(json.dumps(facts))
    assert load_regressor(find_model(str(folder)))[2].rank == 0


@pytest.mark.parametrize("stored", ["path", "link"])
def test_a_saved_model_is_found_from_every_working_directory(
    stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_regressor(tmp_path / "trained")
    monkeypatch.chdir(tmp_path / "trained")
    model, _, plan = load_regressor(find_model("."))
    save_tuned(model, "base", Path("../out/model"), kind=QUALITY_REGRESSOR, facts=facts_of(plan))
    monkeypatch.chdir("/")
    folder = tmp_path / "out" / "model"
    assert json.loads((folder / "config.json").read_text())["base"] == "../../trained/base"
    if stored == "link":
        (tmp_path / "link").symlink_to(folder)
        folder = tmp_path / "link"
    first, second = (TextRegressor.load(str(name), RUNTIME) for name in (tmp_path / "trained", folder))
    np.testing.assert_array_equal(first.rate(rows_of(first)), second.rate(rows_of(second)))


@pytest.mark.parametrize("name", ["minilm", "mpnet", "gistmeter/fill", "owner/name@main", "filler"])
def test_names_that_are_no_folders_are_stored_as_they_are(name: str, tmp_path: Path) -> None:
    assert name_in(tmp_path, name_from(tmp_path, name)) == name_from(tmp_path, name) == name


def test_only_what_was_trained_is_on_disk(tmp_path: Path) -> None:
    save_regressor(tmp_path)
    with safe_open(tmp_path / "model.safetensors", "pt") as file:
        names = set(file.keys())
    assert {name.split(".")[0] for name in names} == {"encoders", "heads"}
    layers = {name.split("layer.")[1].split(".")[0] for name in names if "layer." in name}
    assert layers == {"1", "2"}, "the two top ones of three"
    assert not any("embeddings" in name or "pooler" in name for name in names)


def test_m1_and_m5_are_one_function(tiny_bert: Path) -> None:
    torch.manual_seed(3)
    five, tokenizer, plan = new_regressor(str(tiny_bert), RegressorPlan(QUALITIES, "m5", layers=1, window=30))
    one, *_ = new_regressor(str(tiny_bert), replace(plan, flavour="m1"))
    with torch.no_grad():
        for name, weight in one.heads.named_parameters():
            parts = tuple(part for other, part in five.heads.named_parameters() if other[2:] == name[2:])
            weight.copy_(torch.cat(parts))
    regressors = [
        TextRegressor(model, tokenizer, qualities=QUALITIES, window=30, identity="x", runtime=RUNTIME)
        for model in (one, five)
    ]
    rows = rows_of(regressors[0])
    np.testing.assert_allclose(regressors[0].rate(rows), regressors[1].rate(rows), atol=1e-6)


def test_s1_is_made_of_five(tiny_bert: Path) -> None:
    torch.manual_seed(4)
    plan = RegressorPlan(QUALITIES[:1], window=30)
    singles = [new_regressor(str(tiny_bert), plan)[0].eval() for _ in range(3)]
    ids = torch.tensor([[2, 7, 9, 3]])
    on = torch.ones_like(ids)
    whole = joined(singles).eval()(ids, on)
    assert whole.shape == (1, 3)
    torch.testing.assert_close(whole, torch.cat([one(ids, on) for one in singles], dim=1))


def test_h_is_the_first_state_of_the_last_layer(tiny_bert: Path) -> None:
    regressor, _, _ = new_regressor(str(tiny_bert), RegressorPlan(QUALITIES, layers=1))
    regressor.eval()
    ids = torch.tensor([[2, 7, 9, 3]])
    states = regressor.encoders[0].encoder(input_ids=ids, attention_mask=torch.ones_like(ids))  # type: ignore[operator]
    expected = torch.stack([head(states.last_hidden_state[0, 0]) for head in regressor.heads])[:, 0]
    torch.testing.assert_close(regressor(ids, torch.ones_like(ids))[0], expected)


def test_the_format(tmp_path: Path) -> None:
    regressor = TextRegressor.load(str(save_regressor(tmp_path)), RUNTIME)
    assert regressor.row([(7, 8), (9,)]) == (regressor.start, 7, 8, regressor.end, 9, regressor.end)
    assert regressor.window == 40
    wide, _, plan = new_regressor(str(tmp_path / "base"), RegressorPlan(QUALITIES, window=512))
    assert plan.window == 66, "no more than the encoder has room for"
    frozen = [name for name, weight in wide.named_parameters() if not weight.requires_grad]
    assert all("pooler" in name for name in frozen), "layers=0 trains the whole encoder"


def test_rows_do_not_depend_on_their_batch(tmp_path: Path) -> None:
    regressor = TextRegressor.load(str(save_regressor(tmp_path, encoder="bigru")), RUNTIME)
    rows = rows_of(regressor)
    together = regressor.rate(rows)
    alone = np.concatenate([regressor.rate([row]) for row in rows])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert regressor.rate([]).shape == (0, 5)


def test_attention_of_the_bigru_by_hand() -> None:
    torch.manual_seed(1)
    encoder = BiGru(torch.randn(9, 4), hidden=3, layers=2, dropout=0.0).eval()
    ids = torch.tensor([[1, 5, 2]])
    states, _ = encoder.layers[0](encoder.embeddings(ids))
    states = states + encoder.layers[1](states)[0]
    scores = torch.tanh(encoder.attention(states)[..., 0])
    h = (torch.softmax(scores, dim=1)[0, :, None] * states[0]).sum(dim=0)
    torch.testing.assert_close(encoder(ids, torch.ones_like(ids))[0], h)
    longer = encoder(torch.tensor([[1, 5, 2, 0, 0]]), torch.tensor([[1, 1, 1, 0, 0]]))
    torch.testing.assert_close(longer[0], h)


def test_another_kind_of_model_is_refused(tmp_path: Path, tiny_bert: Path, tiny_copy_infiller: Path) -> None:
    for other in (tiny_bert, tiny_copy_infiller):
        with pytest.raises(BadModel, match="not a gistmeter-rater"):
            TextRegressor.load(str(other), RUNTIME)


def change(folder: Path, **facts: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | facts), encoding="utf-8")


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"flavour": "m1"}, "do not match its config.json"),
        ({"layers": 1}, "do not match its config.json"),
        ({"encoder": "bigru"}, "do not match its config.json"),
        ({"layers": 9}, "3 layers"),
        ({"flavour": "m7"}, "does not describe a regressor"),
        ({"qualities": None}, "does not describe a regressor"),
        ({"base_identity": "another"}, "was trained on another"),
    ],
)
def test_a_changed_folder_is_refused(tmp_path: Path, facts: dict[str, object], says: str) -> None:
    save_regressor(tmp_path)
    change(tmp_path, **facts)
    with pytest.raises(BadModel, match=says):
        TextRegressor.load(str(tmp_path), RUNTIME)


@pytest.mark.parametrize(
    "wrong", [{"flavour": "m3"}, {"encoder": "cnn"}, {"window": 2}, {"encoder": "bigru"}, {"layers": -1}]
)
def test_a_plan_that_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="model"):
        RegressorPlan(QUALITIES, **wrong)  # type: ignore[arg-type]


def test_a_rater_needs_heads_that_fit() -> None:
    encoder = BiGru(torch.randn(9, 4), hidden=3)
    regressor = QualityRegressor([encoder], 6, [2, 1])
    assert regressor(torch.tensor([[1, 2]]), torch.ones(1, 2, dtype=torch.long)).shape == (1, 3)
