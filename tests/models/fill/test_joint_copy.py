"""The joint filler with a copy head: batches, contexts, probabilities, and damaged files."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.files.find import find_model
from gistmeter.models.fill.copy_head import gold_log_probability
from gistmeter.models.fill.joint_copy import JointCopyFiller, new_joint_infiller, save_joint_infiller
from gistmeter.models.fill.load import load_filler
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.runtime import Runtime
from tests.tiny_mpnet import save_mpnet

CPU = Runtime(device="cpu", progress=False)
TEXT = "The ferry left the harbour."
CONTEXTS = (
    "The ferry left the harbour at noon.",
    "Rain fell over the hills and the harbour all night long.",
    "",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("joint-copy")
    save_mpnet(folder / "mpnet")
    model, _ = new_joint_infiller(str(folder / "mpnet"), 4, seed=3)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.requires_grad:
                weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(5)) * 0.05)
    save_joint_infiller(model, str(folder / "mpnet"), 4, folder / "model")
    return folder


@pytest.fixture(scope="module")
def filler(folder: Path) -> JointCopyFiller:
    found = load_filler(str(folder / "model"), CPU)
    assert isinstance(found, JointCopyFiller)
    return found


def queries(filler: JointCopyFiller) -> list[Query]:
    text, *contexts = filler.tokenize([TEXT, *CONTEXTS])
    first = [Query(text.ids, ((1, 2), (4, 5)), context.ids) for context in contexts]
    return first + [Query(text.ids, ((2, 4),), context.ids, context_first=True) for context in contexts]


def close(first: list[Fill], second: list[Fill]) -> bool:
    return all(
        a.gold_probabilities == pytest.approx(b.gold_probabilities, abs=1e-6)
        and a.predicted == b.predicted
        and a.gold_ranks == b.gold_ranks
        for a, b in zip(first, second, strict=True)
    )


def test_a_batch_fills_as_each_query_alone(filler: JointCopyFiller) -> None:
    asked = queries(filler)
    for query, fills in zip(asked, filler.fill(asked), strict=True):
        assert len(fills) == len(query.blanks)
        assert close(fills, filler.fill([query])[0])


def test_filling_and_training_give_a_token_the_same_probability(filler: JointCopyFiller) -> None:
    asked = queries(filler)
    with torch.no_grad():
        states, memory, batch = filler.read(asked)
        logits, choices = filler.point(states, memory, batch)
        expected = gold_log_probability(logits, choices, batch).exp().tolist()
    found = [p for fills in filler.fill(asked) for fill in fills for p in fill.gold_probabilities]
    assert found == pytest.approx(expected, rel=1e-4)


def test_without_a_context_nothing_is_copied(filler: JointCopyFiller) -> None:
    asked = [query for query in queries(filler) if not query.context]
    with torch.no_grad():
        states, memory, batch = filler.read(asked)
        _, choices = filler.point(states, memory, batch)
    assert choices[:, 0].exp().tolist() == pytest.approx([1.0] * len(choices))


def test_the_context_is_where_the_head_looks_for_it(filler: JointCopyFiller) -> None:
    for query in queries(filler):
        if query.context:
            row = filler.assemble(query)
            assert row.ids[row.context : row.context + len(query.context)] == query.context


def test_a_query_longer_than_the_window_is_refused(filler: JointCopyFiller) -> None:
    ids = filler.tokenize(["the " * 600])[0].ids
    with pytest.raises(UsageError, match="exceeds the window"):
        filler.fill([Query(ids, ((0, 1),), ())])


@pytest.mark.parametrize("rank", [-1, 0, 10**9, "x", None, 5])
def test_a_damaged_configuration_is_refused(rank: object, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "model", tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    facts = json.loads(path.read_text(encoding="utf-8")) | {"base": str(folder / "mpnet"), "rank": rank}
    path.write_text(json.dumps(facts))
    with pytest.raises(BadModel):
        JointCopyFiller.of(find_model(str(tmp_path / "model")), CPU)
