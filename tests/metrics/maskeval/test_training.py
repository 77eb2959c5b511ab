"""Training of MaskEval's filler on tiny models: blanked words, loss, and the saved model."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from gistmeter.core.errors import BadModel, DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.metrics.maskeval import build
from gistmeter.metrics.maskeval.training.train import train_filler, word_drawer
from gistmeter.models.fill.load import load_filler
from gistmeter.models.fill.loss import gold_count, gold_loss, trainable_filler
from gistmeter.models.fill.protocol import Filler, Query
from gistmeter.models.fill.t5 import Seq2SeqFiller
from gistmeter.models.run.runtime import Runtime
from gistmeter.training.queries import PairData, QueryTask
from gistmeter.training.recipe import Recipe, Settings
from gistmeter.training.texts import TextPair, read_pairs
from tests.listed_filler import Listed
from tests.tiny_models import SENTENCES

RUNTIME = Runtime(device="cpu")
SETTINGS = Settings(steps=12, learning_rate=1e-2, validate_every=50)
PAIRS = [TextPair(f"{text} {SENTENCES[at - 1]}", text) for at, text in enumerate(SENTENCES)]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def pair_recipe(folder: Path, model: Path, settings: Settings) -> Recipe:
    """Return a recipe for files with the sentences of this test."""
    rows = [{"source": f"{text} {at}", "candidate": text} for at, text in enumerate(SENTENCES * 4)]
    write(folder / "pairs.jsonl", rows)
    data = {"sets": [{"file": "pairs.jsonl"}], "parts": 4, "batch": 4, "micro_batch": 3}
    return Recipe("maskeval-mlm", "mine", settings, data, {"name": str(model)})


# The words of the filler are up to four letters, those of spaCy whole: "ferry" is "ferr"+"y".
def test_blanks_by_hand() -> None:
    filler = Listed()
    draw = word_drawer(filler, "en")
    pair = TextPair(source="Old ferry sank.", candidate="A ferry sank.")
    seen = set()
    for seed in range(200):
        query = draw(pair, random.Random(seed))
        assert query is not None
        [(start, end)] = query.blanks
        assert filler.decode(query.context) == ("Oldferrysank." if not query.context_first else "Aferrysank.")
        side = "source" if query.context_first else "candidate"
        seen.add((side, filler.decode(query.text), filler.decode(query.text[start:end])))
    candidate = {("candidate", "Aferrysank.", word) for word in ("A", "ferry", "sank", ".")}
    source = {("source", "Oldferrysank.", word) for word in ("Old", "ferry", "sank", ".")}
    assert seen == candidate | source
    assert draw(TextPair(source="", candidate=""), random.Random(1)) is None


def test_each_data_set_is_cut_in_its_language(tmp_path: Path) -> None:
    write(tmp_path / "fr.jsonl", [{"source": "L'eau tombe.", "candidate": "L'eau tombe."}])
    sets = [{"file": "fr.jsonl", "language": "fr"}, {"file": "fr.jsonl"}]
    pairs = [pair for part in read_pairs(tmp_path, sets) for pair in part]
    assert [pair.language for pair in pairs] == ["fr", None]
    filler = Listed()
    draw = word_drawer(filler, "en")
    said = []
    for pair in pairs:
        drawn = [draw(pair, random.Random(seed)) for seed in range(40)]
        said.append({filler.decode(q.text[slice(*q.blanks[0])]) for q in drawn if q is not None})
    assert said == [{"L'", "eau", "tombe", "."}, {"L'eau", "tombe", "."}]


def test_a_long_text_is_seen_through_the_window() -> None:
    filler = Listed(window=60)
    text = " ".join(f"w{at:03}" for at in range(200))
    query = word_drawer(filler, "en")(TextPair(source=text, candidate=text), random.Random(4))
    assert query is not None
    [(start, end)] = query.blanks
    assert (end - start, len(query.text)) == (1, 49), "24 sub-words on either side"
    assert query.context == tuple(range(60 - 3 - 49))


def test_t5_learns_the_papers_sequences(tiny_t5: Path) -> None:
    filler = Seq2SeqFiller.load(str(tiny_t5), RUNTIME)
    text = filler.vocabulary.tokenize([SENTENCES[0]])[0].ids
    query = replace(_query(filler), text=text, blanks=((1, 3),))
    seen: dict[str, list[int]] = {}
    forward = filler.model.forward

    def watched(**given: torch.Tensor) -> object:
        seen.update({name: given[name][0].tolist() for name in ("input_ids", "decoder_input_ids")})
        return forward(**given)

    filler.model.forward = watched
    loss = gold_loss(filler, [query])
    x, sep, end = filler.vocabulary.id, filler.separator, filler.end
    first, second = x("<extra_id_0>"), x("<extra_id_1>")
    assert seen["input_ids"] == [text[0], first, *text[3:], sep, *query.context, end]
    assert seen["decoder_input_ids"] == [0, first, *text[1:3], second], "after it, the end"
    ids = {name: torch.tensor([value]) for name, value in seen.items()}
    by_library = filler.model(**ids, labels=torch.tensor([[first, *text[1:3], second, end]])).loss
    assert gold_count(filler, [query]) == 5
    assert float(loss.detach()) / 5 == pytest.approx(float(by_library.detach()), rel=1e-5)


def _query(filler: Filler) -> Query:
    query = word_drawer(filler, "en")(PAIRS[0], random.Random(0))
    assert query is not None
    return replace(query, context_first=False)


@pytest.mark.parametrize("name", ["tiny_t5", "tiny_roberta_lm", "tiny_bart"])
def test_the_loss_is_what_filling_says(name: str, request: pytest.FixtureRequest) -> None:
    """In evaluation mode, training and inference give every gold token the same probability."""
    filler = trainable_filler(load_filler(str(request.getfixturevalue(name)), RUNTIME))
    draw = word_drawer(filler, "en")
    queries = [query for at, pair in enumerate(PAIRS) if (query := draw(pair, random.Random(at)))]
    fills = [fill for row in filler.fill(queries) for fill in row]
    said = -sum(math.log(p) for fill in fills for p in fill.gold_probabilities)
    loss = float(gold_loss(filler, queries).detach())
    if name == "tiny_t5":  # its sentinels and its end come on top
        assert gold_count(filler, queries) == sum(len(fill.gold_probabilities) + 3 for fill in fills)
        assert loss > said
    else:
        assert gold_count(filler, queries) == sum(len(fill.gold_probabilities) for fill in fills)
        assert loss == pytest.approx(said, rel=1e-4)
    parts = [float(gold_loss(filler, [query]).detach()) for query in queries]
    assert loss == pytest.approx(sum(parts), rel=1e-4), "padding counts nothing"


def test_words_are_drawn_anew_every_epoch(tiny_t5: Path) -> None:
    filler = trainable_filler(load_filler(str(tiny_t5), RUNTIME))
    task = QueryTask(filler, word_drawer(filler, "en"), PAIRS[:4], PAIRS[4:], data=PairData(batch=4), seed=1)
    again = QueryTask(filler, word_drawer(filler, "en"), PAIRS[:4], PAIRS[4:], data=PairData(batch=4), seed=1)
    steps = [frozenset(task.queries(step)) for step in range(4)]
    assert len(set(steps)) == 4
    assert steps == [frozenset(again.queries(step)) for step in range(4)]
    assert task.validation == again.validation


def test_a_filler_learns_a_toy_set_and_is_found_again(
    tiny_t5: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = pair_recipe(tmp_path, tiny_t5, replace(SETTINGS, steps=40))
    filler = trainable_filler(load_filler(str(tiny_t5), RUNTIME))
    untrained = QueryTask(filler, word_drawer(filler, "en"), PAIRS, PAIRS, data=PairData(), seed=1)
    first = untrained.validate()["loss"]
    figures = train_filler(recipe, tmp_path, tmp_path / "out", progress=False)
    history = json.loads((tmp_path / "out" / "history.json").read_text())
    losses = [point["loss"] for point in history["validations"]]
    assert figures["loss"] == min(losses) < 0.6 * first
    assert capsys.readouterr().err == "", "not asked for"
    example = Example("1", PAIRS[0].candidate, PAIRS[0].source)
    options = {"score": "probability"}
    before = build("paper", str(tiny_t5), RUNTIME, options).score([example])[0].value
    after = build("paper", str(tmp_path / "out" / "model"), RUNTIME, options).score([example])[0].value
    assert after > 2 * before > 0


def test_what_cannot_be_trained(tiny_t5: Path, tmp_path: Path) -> None:
    recipe = pair_recipe(tmp_path, tiny_t5, SETTINGS)
    with pytest.raises(UsageError, match=r"lacks model\.name or data\.sets"):
        train_filler(replace(recipe, model={}), tmp_path, tmp_path, progress=False)
    with pytest.raises(UsageError, match="no option 'batches'"):
        train_filler(replace(recipe, data={**recipe.data, "batches": 3}), tmp_path, tmp_path, progress=False)
    strange = {**recipe.data, "sets": [{"file": "pairs.jsonl", "language": "tlh"}]}
    with pytest.raises(UsageError, match="spaCy has no language 'tlh'"):
        train_filler(replace(recipe, data=strange), tmp_path, tmp_path, progress=False)
    with pytest.raises(UsageError, match="mine: unknown key 'modle'"):
        train_filler(replace(recipe, model={"modle": "x"}), tmp_path, tmp_path, progress=False)
    with pytest.raises(BadModel, match="cannot be trained on blanks"):
        trainable_filler(Listed())
    write(tmp_path / "pairs.jsonl", [{"source": "one", "candidate": "one"}])
    with pytest.raises(DataError, match=r"no .*document"):
        train_filler(recipe, tmp_path, tmp_path, progress=False)
