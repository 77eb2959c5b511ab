"""Training of ClozE on tiny models."""

import json
import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from gistmeter.core.errors import ModelNotFound, UsageError
from gistmeter.core.example import Example
from gistmeter.metrics.cloze import build
from gistmeter.metrics.cloze.training.train import factor_drawer, train_cloze
from gistmeter.models.fill.load import load_filler
from gistmeter.models.fill.loss import gold_count, gold_loss, trainable_filler
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.factors import Pipeline
from gistmeter.training.queries import PairData, QueryTask
from gistmeter.training.recipe import Recipe, Settings
from gistmeter.training.texts import TextPair
from tests.listed_filler import Listed
from tests.tiny_spacy import tiny_pipeline

RUNTIME = Runtime(device="cpu")
CANDIDATE = "Anna Berg sold the red boat in Oslo. She thanked her brother."
FACTORS = {"Anna Berg": ("Anna", "Berg"), "the red boat": ("the", "red", "boat"), "Oslo": ("Oslo",)}
PAIR = TextPair(source="Karl Lund's sister lives near Bergen.", candidate=CANDIDATE)
PAIRS = [
    PAIR,
    TextPair("The mayor of Oslo opened two new schools on Monday.", "On Monday she sold the old school."),
    TextPair("the mayor thanked karl lund.", "Karl Lund's sister lives near Bergen."),
    TextPair("Anna Berg sold the red boat in Oslo.", "The mayor of Oslo opened two new schools on Monday."),
]


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline(tiny_pipeline(), "tiny")


def test_blanks_by_hand(pipeline: Pipeline) -> None:
    """Queries blank factors of one sentence with all of their sub-words, next to the re-joined document."""
    filler = Listed()
    draw = factor_drawer(filler, pipeline, "entity_first")
    seen = set()
    for seed in range(300):
        query = draw(PAIR, random.Random(seed))
        assert query is not None
        assert query.context_first
        assert [filler.pieces[at] for at in query.context] == [
            "Karl",
            "Lund",
            "'",
            "s",
            "sist",
            "er",
            "live",
            "s",
            "near",
            "Berg",
            "en",
            ".",
        ]
        words = [filler.pieces[at] for at in query.text]
        seen.add((words[0], tuple(" ".join(words[slice(*blank)]) for blank in query.blanks)))
    first = {("Anna", some) for n in (1, 2, 3) for some in combinations(FACTORS, n)}
    second = {("She", some) for some in ((("She",)), (("her brot her",)), ("She", "her brot her"))}
    assert seen == first | second


def test_nothing_to_blank(pipeline: Pipeline) -> None:
    draw = factor_drawer(Listed(), pipeline, "entity_first")
    assert draw(TextPair(source="Rain.", candidate="."), random.Random(1)) is None
    assert draw(TextPair(source="Rain.", candidate=""), random.Random(1)) is None
    cut = factor_drawer(Listed(window=4), pipeline, "entity")
    assert cut(TextPair(source="Rain.", candidate="She thanked karl lund ."), random.Random(1)) is None


@pytest.mark.parametrize("name", ["tiny_roberta_lm", "tiny_bart"])
def test_only_the_masks_count(name: str, request: pytest.FixtureRequest, pipeline: Pipeline) -> None:
    filler = trainable_filler(load_filler(str(request.getfixturevalue(name)), RUNTIME))
    draw = factor_drawer(filler, pipeline, "entity_first")
    queries = [query for at, pair in enumerate(PAIRS) if (query := draw(pair, random.Random(at)))]
    assert len(queries) == len(PAIRS)
    blanked = sum(end - start for query in queries for start, end in query.blanks)
    assert gold_count(filler, queries) == blanked
    loss = gold_loss(filler, queries)
    loss.backward()  # type: ignore[no-untyped-call]
    fills = [fill for row in filler.fill(queries) for fill in row]
    assert sum(len(fill.gold_probabilities) for fill in fills) == blanked
    assert any(weight.grad is not None and weight.grad.any() for weight in filler.model.parameters())


def test_micro_batches_change_nothing(tiny_roberta_lm: Path, pipeline: Pipeline) -> None:
    filler = trainable_filler(load_filler(str(tiny_roberta_lm), RUNTIME))
    draw = factor_drawer(filler, pipeline, "entity_first")
    losses = []
    for size in (1, 3, 8):
        data = PairData(batch=4, micro_batch=size)
        task = QueryTask(filler, draw, PAIRS, PAIRS, data=data, seed=1)
        parts = [float(part.detach()) for part in task.loss(0)]
        assert len(parts) == (4 + size - 1) // size
        losses.append(sum(parts))
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-5)


def test_rows_without_factors_are_passed_over(tiny_roberta_lm: Path, pipeline: Pipeline) -> None:
    filler = trainable_filler(load_filler(str(tiny_roberta_lm), RUNTIME))
    draw = factor_drawer(filler, pipeline, "entity_first")
    bare = TextPair("Rain.", ".")
    data = PairData(batch=1, micro_batch=1)
    task = QueryTask(filler, draw, [bare, bare, PAIR], [bare, PAIR], data=data, seed=1)
    assert len(task.validation) == 1
    assert all(len(task.queries(step)) == 1 for step in range(6))


@pytest.mark.parametrize("name", ["tiny_roberta_lm", "tiny_bart"])
def test_train_save_load_and_score(
    name: str, request: pytest.FixtureRequest, pipeline: Pipeline, tmp_path: Path
) -> None:
    pipeline.nlp.to_disk(tmp_path / "pipeline")
    rows = [
        {"source": f"{pair.source} {at}", "candidate": pair.candidate} for at, pair in enumerate(PAIRS * 4)
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    model = str(request.getfixturevalue(name))
    own = {"name": model, "pipeline": str(tmp_path / "pipeline")}
    settings = Settings(steps=25, learning_rate=3e-3, optimizer="adam", warmup=3, validate_every=25)
    data = {"sets": [{"file": "pairs.jsonl"}], "parts": 4, "batch": 6, "micro_batch": 4}
    recipe = Recipe("cloze", "mine", settings, data, own)
    figures = train_cloze(recipe, tmp_path, tmp_path / "out", progress=False)
    assert figures["step"] == 25
    options = {"pipeline": own["pipeline"], "criterion": "soft", "confidence": False}
    example = Example("1", PAIR.candidate, PAIR.source)
    before, after = (
        build("paper", name, RUNTIME, options).score([example])[0].value
        for name in (model, str(tmp_path / "out" / "model"))
    )
    assert after > 4 * before > 0
    with pytest.raises(UsageError, match="selection=verbs: choose one of entity, noun"):
        train_cloze(replace(recipe, model={**own, "selection": "verbs"}), tmp_path, tmp_path, progress=False)
    with pytest.raises(ModelNotFound):
        train_cloze(replace(recipe, model={**own, "pipeline": "none"}), tmp_path, tmp_path, progress=False)
