"""Test that a larger filler teaches a smaller one with another numbering of the same vocabulary."""

from pathlib import Path

import pytest
import torch
from tokenizers import models

from gistmeter import catalog
from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer
from gistmeter.models.fill.copy_files import load_copy_infiller
from gistmeter.models.fill.copy_head import mixed_probabilities
from gistmeter.models.fill.joint_copy import new_joint_infiller, save_joint_infiller
from gistmeter.models.fill.pair_batch import pair_batch
from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.vocabulary import Vocabulary
from gistmeter.training.recipes.fill_teacher import FillTeacher, load_teacher
from tests.tiny_models import save_bert, save_roberta, wordpiece
from tests.tiny_mpnet import save_mpnet
from tests.training.recipes.test_infiller import RECIPE, write_pairs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a student's encoder and a teacher with random weights, and pairs of texts."""
    folder = tmp_path_factory.mktemp("taught")
    save_bert(folder / "bert")
    base = str(save_mpnet(folder / "mpnet"))
    model, _ = new_joint_infiller(base, 4, seed=3)
    with torch.no_grad():
        model.head.bias.add_(torch.randn(model.head.bias.shape, generator=torch.Generator().manual_seed(5)))
    save_joint_infiller(model, base, 4, folder / "teacher")
    write_pairs(folder)
    text = RECIPE.replace("BASE", str(folder / "bert")).replace("[24, 40]", "[16]").replace("40 }", "32 }")
    (folder / "alone.toml").write_text(text, encoding="utf-8")
    taught = text.replace("[model]\n", f'[model]\nteacher = "{folder / "teacher"}"\n')
    (folder / "taught.toml").write_text(taught, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def student() -> Vocabulary:
    """Return the vocabulary of the teacher with its ordinary tokens in reverse order."""
    tokenizer = wordpiece()
    first, last = len(tokenizer.all_special_ids), len(tokenizer) - 1
    order = {token: at if at < first else last + first - at for token, at in tokenizer.get_vocab().items()}
    tokenizer.backend_tokenizer.model = models.WordPiece(order, unk_token="[UNK]")
    return Vocabulary(tokenizer)


@pytest.fixture(scope="module")
def teacher(folder: Path, student: Vocabulary) -> FillTeacher:
    return load_teacher(str(folder / "teacher"), student, dtype="fp32")


def query(vocabulary: Vocabulary, *, context_first: bool = False) -> Query:
    text, context = vocabulary.tokenize(
        ["The ferry left the harbour.", "Rain fell over the harbour at noon."]
    )
    return Query(text.ids, ((1, 2), (3, 5)), context.ids, context_first=context_first)


@pytest.mark.parametrize("context_first", [True, False])
def test_it_says_of_each_token_what_it_says_in_its_own_numbering(
    teacher: FillTeacher, student: Vocabulary, context_first: bool
) -> None:
    own, theirs = (
        query(vocabulary, context_first=context_first) for vocabulary in (student, teacher.filler.vocabulary)
    )
    assert own.text != theirs.text
    said = teacher.probabilities([own])
    gold = [own.text[at] for at in (1, 3, 4)]
    fills = [p for fill in teacher.filler.fill([theirs])[0] for p in fill.gold_probabilities]
    assert said[range(3), gold].tolist() == pytest.approx(fills, rel=1e-5)
    assert said.shape == (3, len(student.backend.get_vocab()))


def test_an_unknown_word_is_unknown_to_the_teacher_too(teacher: FillTeacher, student: Vocabulary) -> None:
    [tokens] = student.tokenize(["ferry ☃"])
    unknown = teacher.filler.vocabulary.tokenizer.unk_token_id
    assert teacher.theirs[tokens.ids[1]] == unknown == teacher.filler.vocabulary.tokenize(["☃"])[0].ids[0]


@pytest.mark.slow
def test_a_student_comes_closer_to_its_teacher(folder: Path) -> None:
    student = Vocabulary(load_tokenizer(find_model(str(folder / "bert"))))
    teacher, own = load_teacher(str(folder / "teacher"), student, dtype="fp32"), query(student)
    gaps = {}
    for name in ("alone", "taught"):
        catalog.train(folder / f"{name}.toml", folder, folder / name, steps=None, progress=False)
        model, _ = load_copy_infiller(find_model(str(folder / name / "model")))
        batch = pair_batch([own], mask_id=model.mask, pad_id=0, device=torch.device("cpu"))
        with torch.no_grad():
            logits, choices = model(batch)
            said = mixed_probabilities(logits, choices, batch.context[batch.sources])
        gaps[name] = -(teacher.probabilities([own]) * said.clamp(min=1e-12).log()).sum(dim=1).mean().item()
    assert gaps["taught"] < gaps["alone"] - 0.1


def test_a_teacher_must_read_both_texts_and_know_the_vocabulary(folder: Path, student: Vocabulary) -> None:
    with pytest.raises(BadModel, match="give gistmeter/fill-base"):
        load_teacher(str(folder / "bert"), student, dtype="fp32")
    other = Vocabulary(load_tokenizer(find_model(str(save_roberta(folder / "roberta")))))
    with pytest.raises(BadModel, match="does not know the student's token"):
        load_teacher(str(folder / "teacher"), other, dtype="fp32")


def test_the_teacher_must_have_room_for_both_texts(folder: Path) -> None:
    long = folder / "long.toml"
    text = (folder / "taught.toml").read_text(encoding="utf-8")
    long.write_text(text.replace("[16]", "[40]"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"lower data\.mix\.window \+ model\.batch\.lengths"):
        catalog.train(long, folder, folder / "long", steps=1, progress=False)
