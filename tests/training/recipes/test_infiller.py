"""Test the training of the included filler: drawn queries, loss, and a small complete training."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gistmeter import Example, catalog
from gistmeter.app.cli import main
from gistmeter.core.errors import DataError, UsageError
from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer
from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.tokens import Tokens
from gistmeter.models.run.vocabulary import Vocabulary
from gistmeter.text.factors import Factor, Pipeline
from gistmeter.training.recipe import read_recipe
from gistmeter.training.recipes.blanks import BlankDrawer, CutText, Mix, cut_pairs, cut_text
from gistmeter.training.recipes.factors import factor_places, place
from gistmeter.training.recipes.fill_data import FillOptions
from gistmeter.training.recipes.infiller import FillTask, start_from_frequencies
from gistmeter.training.texts import TextPair, held_out, read_pairs
from tests.tiny_models import SENTENCES
from tests.tiny_spacy import tiny_pipeline

CPU = Runtime(device="cpu", progress=False)
WORDS = sorted({word for text in SENTENCES for word in text.lower().split() if word.isalpha()})
RECIPE = """
task = "fill"
[model]
base = "BASE"
layers = 2
batch = { contexts = 2, group = 3, lengths = [24, 40], held_out = 36 }
[data]
sets = [{ file = "pairs.jsonl" }]
mix = { window = 40 }
[training]
steps = 60
learning_rate = 2e-3
validate_every = 30
checkpoint_every = 10
select = "loss"
"""


def write_pairs(folder: Path, number: int = 40) -> Path:
    """Write documents of random words, and of each a sentence as its summary: only copying helps."""
    rng = random.Random(1)
    rows = []
    for at in range(number):
        chosen = [f"{' '.join(rng.sample(WORDS, 7)).capitalize()}." for _ in range(3)]
        rows.append({"id": f"row-{at}", "source": " ".join(chosen), "candidate": chosen[0]})
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def vocabulary(tiny_bert: Path) -> Vocabulary:
    return Vocabulary(load_tokenizer(find_model(str(tiny_bert))))


def cut(vocabulary: Vocabulary, text: str) -> CutText:
    return cut_text(text, vocabulary.tokenize([text])[0])


def said(vocabulary: Vocabulary, ids: Sequence[int]) -> str:
    return vocabulary.decode(ids)


def test_words_and_sentences_in_tokens(vocabulary: Vocabulary) -> None:
    found = cut(vocabulary, "The ferry left. Rain is expected.")
    assert [said(vocabulary, found.ids[a:b]) for a, b in found.words] == [
        "the", "ferry", "left.", "rain", "is", "expected.",
    ]  # fmt: skip
    assert [said(vocabulary, found.ids[a:b]) for a, b in found.sentences] == [
        "the ferry left.", "rain is expected.",
    ]  # fmt: skip


def drawn(vocabulary: Vocabulary, mix: Mix, length: int = 40) -> list[tuple[Query, CutText, CutText]]:
    pair = TextPair(" ".join(SENTENCES), f"{SENTENCES[0]} {SENTENCES[2]}")
    tokens = dict(
        zip((pair.source, pair.candidate), vocabulary.tokenize([pair.source, pair.candidate]), strict=True)
    )
    candidate, source = cut_pairs([pair], tokens)[0]
    drawer = BlankDrawer([(candidate, source)], mix)
    rng = random.Random(5)
    queries = [query for _ in range(200) for query in drawer.draw(rng, length, 3)]
    return [(query, candidate, source) for query in queries]


@pytest.mark.parametrize("kind", ["candidate", "source", "document"])
def test_blanks_are_whole_words_in_order_and_apart(vocabulary: Vocabulary, kind: str) -> None:
    candidate_share, source_share, document_share = (
        float(name == kind) for name in ("candidate", "source", "document")
    )
    mix = Mix(candidate_share, source_share, document_share, window=30)
    sides = set()
    for query, candidate, source in drawn(vocabulary, mix):
        assert 0 < len(query.context) <= 40
        assert len(query.text) <= 30
        assert query.blanks
        for (_, end), (start, _) in zip(query.blanks, query.blanks[1:], strict=False):
            assert end < start, "a word lies between two blanks"
        assert all(0 <= a < b <= len(query.text) for a, b in query.blanks)
        ids = "".join(map(chr, source.ids)), "".join(map(chr, candidate.ids)), "".join(map(chr, query.text))
        if kind == "candidate":
            assert not query.context_first
            assert ids[2] in ids[1]
            assert query.context == source.ids[:40]
        elif kind == "source":
            assert query.context_first
            assert ids[2] in ids[0]
            assert query.context == candidate.ids[:40]
        sides.add(query.context_first)
    assert sides == {"candidate": {False}, "source": {True}, "document": {False, True}}[kind]


def test_a_document_may_lack_the_sentences_that_are_asked_for(vocabulary: Vocabulary) -> None:
    mix = Mix(candidate=0, source=0, document=1, window=200)
    with_them = without = 0
    for query, _, source in drawn(vocabulary, mix, length=500):
        if query.context_first:
            continue
        whole = query.context == source.ids
        if whole:
            with_them += 1
        else:
            without += 1
        assert whole or len(query.context) < len(source.ids)
    assert min(with_them, without) > 50


def test_factors_are_found_in_tokens(vocabulary: Vocabulary) -> None:
    text = "Anna Berg sold the red boat in Oslo. The mayor of Oslo opened two new schools on Monday."
    tokens = {text: vocabulary.tokenize([text])[0]}
    found = factor_places([text], tokens, Pipeline(tiny_pipeline(), "tiny"))[text]
    said = [text[tokens[text].offsets[a][0] : tokens[text].offsets[b - 1][1]] for a, b in found]
    assert said == ["Anna Berg", "the red boat", "Oslo", "The mayor", "Oslo", "two", "Monday"]


def tokens_at(*places: list[int]) -> Tokens:
    return Tokens((7,) * len(places), np.array(places), np.zeros(len(places), dtype=bool), len(places))


def test_a_factor_that_ends_within_a_token_is_left_out() -> None:
    oslo = Factor(0, 4, 0, 4, "entity", "GPE", 0)
    assert place(oslo, tokens_at([0, 4], [4, 6])) == (0, 1)
    assert place(oslo, tokens_at([0, 6])) is None
    assert place(oslo, tokens_at([0, 3], [3, 6])) is None


def test_factors_are_blanked_whole(vocabulary: Vocabulary) -> None:
    pair = TextPair(" ".join(SENTENCES), f"{SENTENCES[0]} {SENTENCES[2]}")
    texts = [pair.source, pair.candidate]
    tokens = dict(zip(texts, vocabulary.tokenize(texts), strict=True))
    factors = ((1, 3), (5, 6), (8, 11))
    cut = cut_pairs([pair], tokens, {pair.candidate: factors})
    drawer = BlankDrawer(cut, Mix(candidate=1, source=0, document=0, window=500, share=1, factors=1))
    rng = random.Random(3)
    gold = {cut[0][0].ids[a:b] for a, b in factors}
    sizes = set()
    for _ in range(60):
        for query in drawer.draw(rng, 40, 2):
            blanked = {query.text[a:b] for a, b in query.blanks}
            # A window that holds no whole factor blanks words.
            if blanked <= gold:
                sizes.add(len(blanked))
    assert sizes == {1, 2, 3}
    single = [one for _ in range(30) if (one := drawer.factor(rng, 40)) is not None]
    assert {one.text[a:b] for one in single for a, b in one.blanks} == gold
    assert {len(one.blanks) for one in single} == {1}


@pytest.mark.slow
def test_a_second_stage_goes_on_with_factors(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = catalog.train(recipe, tmp_path, tmp_path / "first", steps=None, progress=False)
    text = recipe.read_text(encoding="utf-8")
    text = text.replace("layers = 2\n", f'layers = 2\nstart = "{tmp_path / "first" / "model"}"\n')
    # The first step of a fresh optimizer moves every weight by the learning rate, and may lose it all.
    text = text.replace("learning_rate = 2e-3", "learning_rate = 1e-6")
    recipe.write_text(text.replace("window = 40", "window = 40, factors = 0.5"), encoding="utf-8")
    monkeypatch.setattr(
        "gistmeter.training.recipes.fill_data.load_pipeline", lambda: Pipeline(tiny_pipeline(), "tiny")
    )
    second = catalog.train(recipe, tmp_path, tmp_path / "second", steps=1, progress=False)
    assert second["loss"] < 1.1 * first["loss"], "a step so small changes nothing: it is the first stage's"
    assert 0 <= second["factor_f1_other"] <= 1


def test_a_tenth_of_the_documents_is_held_out(tmp_path: Path) -> None:
    write_pairs(tmp_path, 400)
    training, validation = read_pairs(tmp_path, [{"file": "pairs.jsonl", "repeat": 2}])
    assert 15 < len(validation) < 75
    assert len(training) == 2 * (400 - len(validation))
    assert all(held_out(pair.source) for pair in validation)
    assert not any(held_out(pair.source) for pair in training)
    with pytest.raises(DataError, match="no matching row"):
        read_pairs(tmp_path, [{"file": "pairs.jsonl", "prefix": "other"}])
    with pytest.raises(DataError, match="cannot read"):
        read_pairs(tmp_path, [{"file": "none.jsonl"}])


@pytest.fixture
def recipe(tiny_bert: Path, tmp_path: Path) -> Path:
    path = tmp_path / "tiny-fill.toml"
    path.write_text(RECIPE.replace("BASE", str(tiny_bert)), encoding="utf-8")
    write_pairs(tmp_path)
    return path


def test_from_a_recipe_to_a_score(recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out"
    assert main(["train", str(recipe), "--data", str(tmp_path), "--output", str(output), "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert "accuracy_candidate_other" in printed
    history = json.loads((output / "history.json").read_text(encoding="utf-8"))
    assert history["validations"][-1]["loss"] < history["validations"][0]["loss"]
    assert (output / "history.png").stat().st_size > 5_000
    pair = Example("1", "The ferry left the harbour.", f"{SENTENCES[0]} {SENTENCES[3]}")
    metric = catalog.build("maskeval", model=str(output / "model"), runtime=CPU)
    score = metric.score([pair])[0]
    assert score.problem is None
    assert 0 <= score.value <= 1


def test_another_context_helps_less(recipe: Path, tmp_path: Path) -> None:
    figures = catalog.train(recipe, tmp_path, tmp_path / "out", steps=None, progress=False)
    assert figures["loss"] < figures["loss_other"]
    assert figures["accuracy"] > figures["accuracy_other"]


def test_a_kill_changes_nothing(recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = catalog.train(recipe, tmp_path, tmp_path / "whole", steps=None, progress=False)
    usual = FillTask.loss

    def killed(self: FillTask, step: int) -> object:
        if step == 25:
            raise MemoryError
        return usual(self, step)

    monkeypatch.setattr(FillTask, "loss", killed)
    with pytest.raises(MemoryError):
        catalog.train(recipe, tmp_path, tmp_path / "cut", steps=None, progress=False)
    monkeypatch.setattr(FillTask, "loss", usual)
    assert catalog.train(recipe, tmp_path, tmp_path / "cut", steps=None, progress=False) == whole
    same = [(tmp_path / name / "model" / "model.safetensors").read_bytes() for name in ("whole", "cut")]
    assert same[0] == same[1]


def test_the_head_starts_from_frequencies(tiny_bert: Path, vocabulary: Vocabulary) -> None:
    from gistmeter.models.fill.copy_files import new_copy_infiller

    reader, _ = new_copy_infiller(str(tiny_bert), 1)
    text = cut(vocabulary, "the the the ferry")
    start_from_frequencies(reader, [(text, text)])
    the, ferry = text.ids[0], text.ids[-1]
    unseen = next(at for at in range(len(reader.table)) if at not in text.ids)
    bias = reader.head.bias.detach().exp()
    assert float(bias[ferry] / bias[the]) == pytest.approx(3 / 7)
    assert float(bias[unseen] / bias[the]) == pytest.approx(1 / 7)


def test_recipes_with_unknown_parts(recipe: Path, tmp_path: Path) -> None:
    text = recipe.read_text(encoding="utf-8").replace("held_out = 36", "rows = 6")
    recipe.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="FillOptions has no option 'rows'"):
        catalog.train(recipe, tmp_path, tmp_path / "out", steps=None, progress=False)


def test_a_base_that_is_too_small(recipe: Path, tmp_path: Path) -> None:
    recipe.write_text(
        recipe.read_text(encoding="utf-8").replace("window = 40", "window = 67"), encoding="utf-8"
    )
    with pytest.raises(UsageError, match="reads 66 tokens"):
        catalog.train(recipe, tmp_path, tmp_path / "out", steps=None, progress=False)


def test_the_shipped_recipe_asks_for_what_there_is() -> None:
    recipe = read_recipe(Path(__file__).parents[3] / "recipes" / "fill.toml")
    assert recipe.task == "fill"
    Mix(**recipe.data["mix"])
    FillOptions(**recipe.model["batch"])
