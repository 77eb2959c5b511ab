"""Average the weights of models."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from gistmeter import catalog
from gistmeter.core.errors import ModelError, UsageError
from gistmeter.models.encode.cross_encoder import PairScorer
from gistmeter.models.files.adapted import AdapterPlan, new_adapted, save_adapted
from gistmeter.models.files.find import find_model
from gistmeter.models.run.runtime import Runtime
from tests.tiny_mpnet import save_mpnet

CLASSES = ("entailment", "neutral", "contradiction")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a base and the models `one`, `two` (like it) and `other` (of another rank)."""
    folder = tmp_path_factory.mktemp("average")
    base = save_mpnet(folder / "base")
    for seed, (name, rank) in enumerate({"one": 2, "two": 2, "other": 4}.items()):
        plan = AdapterPlan("AutoModelForSequenceClassification", rank, CLASSES)
        model, _ = new_adapted(str(base), plan, seed=seed)
        save_adapted(model, str(base), plan, folder / name)
    return folder


def averaged(folder: Path, *names: str) -> Path:
    recipe, models = folder / "average.toml", ", ".join(f'"{folder / name}"' for name in names)
    recipe.write_text(f'task = "average"\nmodels = [{models}]\n', encoding="utf-8")
    catalog.train(recipe, None, folder / "out", steps=None, progress=False)
    return folder / "out" / "model"


def test_every_weight_is_the_mean(folder: Path) -> None:
    found = averaged(folder, "one", "two")
    one, two, mean = (
        load_file(place / "model.safetensors") for place in (folder / "one", folder / "two", found)
    )
    assert mean.keys() == one.keys()
    for name, weight in mean.items():
        assert torch.allclose(weight.float(), (one[name].float() + two[name].float()) / 2, atol=1e-3)
    assert any(not torch.equal(mean[name], one[name]) for name in mean)


def test_the_mean_is_a_model(folder: Path) -> None:
    files = find_model(str(averaged(folder, "one", "one")))
    runtime = Runtime(device="cpu", progress=False)
    pair = [("ferry mayor", "the noon")]
    mean = PairScorer.load(files, runtime).score(pair).values
    assert mean == pytest.approx(PairScorer.load(find_model(str(folder / "one")), runtime).score(pair).values)


def test_models_that_cannot_be_averaged_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="at least two"):
        averaged(folder, "one")
    with pytest.raises(UsageError, match="other is of another kind or size than"):
        averaged(folder, "one", "other")
    with pytest.raises(ModelError):
        averaged(folder, "one", "missing")
