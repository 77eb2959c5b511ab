"""Test the entailment model: rows, loss, training, and scores of pairs."""

import json
import math
import random
from pathlib import Path

import pytest
import torch

from gistmeter import catalog, load
from gistmeter.core.errors import BadModel, DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.models.encode.cross_encoder import PairScorer
from gistmeter.models.files.adapted import load_adapted
from gistmeter.models.files.find import find_model
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.types import Model, Tokenizer
from gistmeter.training.recipes.entailment.rows import Labelled, evidence, read_labelled
from gistmeter.training.recipes.entailment.task import Classifier, Encoded, EntailData, EntailTask, class_loss
from gistmeter.training.recipes.entailment.train import encode_pairs
from tests.tiny_models import SENTENCES
from tests.tiny_mpnet import save_mpnet

CPU = Runtime(device="cpu", progress=False)
RECIPE = """
task = "entail"
[model]
base = "BASE"
rank = 8
[data]
parts = 4
batch = 8
pool = 2
window = 48
sets = [{ file = "pairs.jsonl", held_out = 40 }]
[training]
steps = 120
learning_rate = 1e-2
validate_every = 30
checkpoint_every = 10
select = "loss"
"""


@pytest.fixture(scope="module")
def tiny_mpnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_mpnet(tmp_path_factory.mktemp("mpnet"))


def write_rows(folder: Path) -> Path:
    """Write rows whose label one word of the hypothesis decides."""
    rng = random.Random(1)
    words = {"entailment": "noon", "neutral": "rain", "contradiction": "bridge"}
    rows = []
    for at in range(120):
        label = rng.choice(list(words))
        premise = " ".join(rng.sample(["ferry", "mayor", "museum", "north", "news", "crops"], 4))
        rows.append({"id": str(at), "dataset": "made", "premise": f"{premise} {at}.", "label": label,
                     "hypothesis": f"the {words[label]}."})  # fmt: skip
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, tiny_mpnet: Path) -> Path:
    folder = tmp_path_factory.mktemp("entail")
    write_rows(folder)
    recipe = folder / "entail.toml"
    recipe.write_text(RECIPE.replace("BASE", str(tiny_mpnet)), encoding="utf-8")
    figures = catalog.train(recipe, folder, folder / "out", steps=None, progress=False)
    assert figures["accuracy_made"] > 0.9
    return folder / "out" / "model"


def test_evidence_keeps_the_sentences_that_share_rare_words() -> None:
    text = "The town is small. A ferry sank in March. The town has a mayor. The ferry was old."
    assert evidence(text, "When did the ferry sink? In March.", most=2) == (
        "A ferry sank in March. The ferry was old."
    )
    assert evidence(text, "anything", most=4) == text


def test_rows_of_both_kinds_are_read_and_premises_held_out(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "dataset": "a", "premise": "p1", "hypothesis": "h", "label": "not_entailment"},
        {"id": "2", "dataset": "b", "evidence": "p2", "claim": "c", "label": "refuted"},
        {"id": "3", "dataset": "b", "evidence": "p3", "claim": "c", "label": "unknown"},
        *({"id": "x", "dataset": "c", "premise": f"q{at}", "hypothesis": "h", "label": "neutral"}
          for at in range(30)),
    ]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sets = [{"file": "rows.jsonl", "held_out": 100}]
    training, validation = read_labelled(tmp_path, sets, parts=3, seed=1)
    found = {pair.premise: pair.allowed for pair in training + validation}
    assert len(found) == 32 and found["p1"] == (1, 2) and found["p2"] == (2,) and found["q0"] == (1,)
    assert not {pair.premise for pair in training} & {pair.premise for pair in validation}
    assert read_labelled(tmp_path, sets, parts=3, seed=1) == (training, validation)
    with pytest.raises(DataError, match="no matching labeled pair"):
        read_labelled(tmp_path, [{"file": "rows.jsonl", "where": {"dataset": ["z"]}}], parts=3, seed=1)


def test_a_binary_label_counts_both_classes_that_it_allows() -> None:
    logits = torch.tensor([[2.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
    pairs = [Encoded((1,), (0,), "a"), Encoded((1,), (1, 2), "a")]
    p = logits[0].softmax(dim=0).tolist()
    assert class_loss(logits, pairs).tolist() == pytest.approx([-math.log(p[0]), -math.log(p[1] + p[2])])


def test_a_pair_without_a_label_has_no_loss_of_its_own() -> None:
    logits = torch.tensor([[2.0, 1.0, 0.0]])
    assert class_loss(logits, [Encoded((1,), (0, 1, 2), "a")]).item() == pytest.approx(0, abs=1e-6)


def test_every_pair_comes_once_an_epoch(tiny_mpnet: Path) -> None:
    rows = [Encoded(tuple(range(length + 1)), (0,), "a") for length in range(21)]
    student = Classifier(torch.nn.Linear(1, 1), 1)
    task = EntailTask(student, rows, rows, data=EntailData(batch=4, pool=3), seed=2)
    drawn = [at for step in range(6) for at in task.batches.rows_of(step)]
    assert sorted(drawn) == list(range(21))


def test_long_premises_are_cut_to_the_window(tiny_mpnet: Path) -> None:
    _, tokenizer = _model_parts(tiny_mpnet)
    pair = Labelled("rain " * 200, "the ferry", (0,), "a")
    assert len(encode_pairs([pair], tokenizer, EntailData(window=24))[0].ids) == 24


def test_pairs_get_the_ids_that_the_tokenizer_gives_them(tiny_mpnet: Path) -> None:
    """The tokenizer's own truncation needs memory that grows with the product of both lengths."""
    _, tokenizer = _model_parts(tiny_mpnet)
    words = " ".join(SENTENCES).split()
    pairs = [
        Labelled(" ".join(words[:first]), " ".join(words[:second]), (0,), "a")
        for first, second in ((1, 1), (3, 40), (40, 3), (30, 30), (31, 30), (12, 11), (5, 70))
    ]
    encoded = encode_pairs(pairs, tokenizer, EntailData(window=24, sentences=99))
    backend = tokenizer.backend_tokenizer
    backend.enable_truncation(24, strategy="longest_first")
    theirs = backend.encode_batch([(pair.premise, pair.hypothesis) for pair in pairs])
    assert [pair.ids for pair in encoded] == [tuple(found.ids) for found in theirs]


def test_training_learns_and_its_model_scores_pairs(trained: Path) -> None:
    scorer, premise = PairScorer.load(find_model(str(trained)), CPU), "ferry mayor museum news 7."
    yes, no = scorer.score([(premise, "the noon."), (premise, "the bridge.")]).values
    assert -1 <= no < -0.5 < 0.5 < yes <= 1


def test_a_student_learns_what_only_its_teacher_knows(
    trained: Path, tiny_mpnet: Path, tmp_path: Path
) -> None:
    """The labels of the student's pairs are lies, and count nothing."""
    rows = [json.loads(line) for line in write_rows(tmp_path).read_text(encoding="utf-8").splitlines()]
    lies = [{**row, "label": "neutral"} for row in rows]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lies), encoding="utf-8")
    recipe = RECIPE.replace("BASE", str(tiny_mpnet)).replace("rank = 8", f'rank = 8\nteacher = "{trained}"')
    path = tmp_path / "student.toml"
    path.write_text(recipe.replace("window = 48", "window = 48\nteaching = 1.0"), encoding="utf-8")
    catalog.train(path, tmp_path, tmp_path / "out", steps=None, progress=False)
    teacher, student = (
        PairScorer.load(find_model(str(folder)), CPU) for folder in (trained, tmp_path / "out" / "model")
    )
    pairs = [("ferry mayor museum news 7.", f"the {word}.") for word in ("noon", "rain", "bridge")]
    assert student.score(pairs).values == pytest.approx(teacher.score(pairs).values, abs=0.15)


def test_a_teacher_that_is_no_entailment_model_is_refused(tmp_path: Path) -> None:
    write_rows(tmp_path)
    for given, message in (('teacher = "gistmeter/fill"', "fill"), ("", "teaching=2")):
        text = RECIPE.replace("BASE", "minilm").replace("rank = 8", f"rank = 8\n{given}")
        text = text if given else text.replace("window = 48", "window = 48\nteaching = 2")
        (tmp_path / "r.toml").write_text(text, encoding="utf-8")
        with pytest.raises((BadModel, UsageError), match=message):
            catalog.train(tmp_path / "r.toml", tmp_path, tmp_path / "out", steps=None, progress=False)


def test_speed_finds_the_entailing_sentence(trained: Path) -> None:
    options = {"mode": "cross", "against": "source", "task": "nli"}
    speed = load("speed", model=str(trained), runtime=CPU, options=options)
    source = "The ferry left. News of rain. A museum in the north. The mayor spoke. Crops failed."
    low, high = speed.score(
        [Example("1", "the bridge. the noon", source), Example("2", "the noon. the noon", source)]
    )
    assert low.value < high.value - 0.2 and low.parts["min"] == min(span.value for span in low.spans)
    assert low.spans[0].value < low.spans[1].value - 0.4
    assert low.spans[0].note.removeprefix("source: ") in source
    assert "nli" in speed.signature.text


def test_other_options_than_its_own_are_refused(trained: Path) -> None:
    for options, message in (
        ({"task": "nli"}, "task=nli needs mode=cross"),
        ({"task": "nli", "mode": "cross"}, "against=source"),
        ({"task": "nli", "mode": "cross", "against": "source", "value": "f1"}, "value=precision or min"),
    ):
        with pytest.raises(UsageError, match=message):
            load("speed", model=str(trained), runtime=CPU, options=options)


def test_a_model_with_one_output_is_no_entailment_model(tiny_cross_encoder: Path) -> None:
    options = {"mode": "cross", "against": "source", "task": "nli"}
    with pytest.raises(BadModel, match="task=nli needs outputs for entailment"):
        load("speed", model=str(tiny_cross_encoder), runtime=CPU, options=options)


def test_an_adapter_for_another_base_is_refused(trained: Path, tiny_mpnet: Path, tmp_path: Path) -> None:
    config = json.loads((trained / "config.json").read_text(encoding="utf-8")) | {"base": str(tiny_mpnet)}
    (tmp_path / "model.safetensors").write_bytes((trained / "model.safetensors").read_bytes())
    (tmp_path / "config.json").write_text(
        json.dumps(config | {"base_identity": "sha256:0"}), encoding="utf-8"
    )
    with pytest.raises(BadModel, match="was trained on sha256:0"):
        load_adapted(find_model(str(tmp_path)))
    (tmp_path / "config.json").write_text(json.dumps(config | {"rank": 3}), encoding="utf-8")
    with pytest.raises(BadModel, match=r"do not match its config\.json"):
        load_adapted(find_model(str(tmp_path)))


def _model_parts(folder: Path) -> tuple[Model, Tokenizer]:
    from gistmeter.models.files.adapted import AdapterPlan, new_adapted

    return new_adapted(str(folder), AdapterPlan("AutoModelForSequenceClassification", 2, ("entailment", "x")))
