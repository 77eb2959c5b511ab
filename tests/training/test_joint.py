"""Test the joint filler: a complete training, and its model loaded with `load`."""

import json
import random
from pathlib import Path

import pytest

from gistmeter import Example, catalog, load
from gistmeter.core.errors import UsageError
from gistmeter.models.fill.joint_copy import JointCopyFiller
from gistmeter.models.fill.load import load_filler
from gistmeter.models.run.runtime import Runtime
from tests.tiny_models import SENTENCES
from tests.tiny_mpnet import save_mpnet

CPU = Runtime(device="cpu", progress=False)
RECIPE = """
task = "joint-fill"
[model]
base = "BASE"
rank = 8
batch = { contexts = 6, group = 1, lengths = [16, 24], new_scale = 1.0, held_out = 24 }
[data]
sets = [{ file = "pairs.jsonl" }]
mix = { window = 32, candidate = 1.0, source = 0.0, document = 0.0, factors = 0.0 }
[training]
steps = 120
learning_rate = 1e-2
validate_every = 60
checkpoint_every = 10
select = "loss"
"""


def write_known(folder: Path) -> None:
    """Write documents of the same few sentences: what stands beside a blank says what belongs there."""
    rng = random.Random(1)
    rows = []
    for at in range(40):
        chosen = rng.sample(SENTENCES, 2)
        rows.append({"id": str(at), "source": f"{' '.join(chosen)} {at}", "candidate": chosen[0]})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "pairs.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("joint")
    write_known(folder)
    save_mpnet(folder / "mpnet")
    (folder / "joint.toml").write_text(RECIPE.replace("BASE", str(folder / "mpnet")), encoding="utf-8")
    return folder


def test_training_learns_and_its_model_fills(folder: Path) -> None:
    first = catalog.train(folder / "joint.toml", folder, folder / "short", steps=1, progress=False)
    figures = catalog.train(folder / "joint.toml", folder, folder / "out", steps=None, progress=False)
    assert figures["loss"] < first["loss"] - 0.3
    filler = load_filler(str(folder / "out" / "model"), CPU)
    assert isinstance(filler, JointCopyFiller)
    [score] = load("cloze", model=str(folder / "out" / "model"), runtime=CPU).score(
        [Example("1", "The ferry left the harbour.", "The ferry left the harbour at noon.")]
    )
    assert 0 <= score.value <= 1


def test_a_window_that_does_not_fit_is_a_usage_error(folder: Path) -> None:
    long = folder / "long.toml"
    long.write_text((folder / "joint.toml").read_text(encoding="utf-8").replace("[16, 24]", "[64]"))
    with pytest.raises(UsageError, match="lower data"):
        catalog.train(long, folder, folder / "long", steps=1, progress=False)
