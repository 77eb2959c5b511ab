"""Test word weights: learned on tiny models, and compared with hand-computed values."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from gistmeter.core.correlation import pearson
from gistmeter.core.errors import BadModel, DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.metrics.maskeval import Learned, MaskEval, MaskEvalOptions, build
from gistmeter.metrics.maskeval.tokenized import TokenizedText
from gistmeter.metrics.maskeval.training import rows as train_rows
from gistmeter.metrics.maskeval.training import scale as train_scale
from gistmeter.metrics.maskeval.training import weights as train_weights
from gistmeter.metrics.maskeval.training.rows import RatedPair, SideStates, read_ratings, word_states
from gistmeter.metrics.maskeval.training.split import Split, draw_apart
from gistmeter.metrics.maskeval.training.split import share_out as share_out_keys
from gistmeter.metrics.maskeval.training.train import RatingData, train_weighers
from gistmeter.metrics.maskeval.training.weights import (
    Plan,
    WeighTask,
    cross_validate,
    keys_of,
    target_of,
    validate_on_the_rest,
)
from gistmeter.models.encode.pair import PairEncoder
from gistmeter.models.encode.token_weighter import Head, TokenWeighter
from gistmeter.models.fill.load import load_filler
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.words import Segment
from gistmeter.training.recipe import Recipe, Settings
from tests.tiny_models import SENTENCES

RUNTIME = Runtime(device="cpu")
OPTIONS = {"score": "probability"}
SETTINGS = Settings(steps=3, learning_rate=0.05, optimizer="adam", validate_every=1, checkpoint_every=1)


def side(states: list[list[float]], values: list[float]) -> SideStates:
    return SideStates(np.array(states, dtype=np.float32), np.array(values, dtype=np.float32))


def share_out(rows: Sequence[RatedPair], split: Split, parts: int, seed: int) -> list[list[int]]:
    return share_out_keys(keys_of(rows, split), split, parts, seed)


def rated(number: int, document: str = "d") -> RatedPair:
    sides = (side([[float(number), 1.0]], [1.0]), side([[0.0, 1.0]], [0.0]))
    return RatedPair(str(number), document, sides, 0.5, {"fluency": 3.0})


def recipe(folder: Path, model: Path, **data: object) -> Recipe:
    """Return twelve documents with two rated candidates each; some ratings are missing."""
    rows = [
        {
            "id": f"{at}-{kind}",
            "doc_id": f"d{at}",
            "source": f"{SENTENCES[at % 5]} {SENTENCES[(at + 1) % 5]}",
            "candidate": SENTENCES[(at + kind) % 5].upper() if kind else SENTENCES[at % 5],
            "scores": {"fluency": 5 - 3 * kind + at % 2, **({"relevance": 2 + at % 3} if at != 3 else {})},
        }
        for at in range(12)
        for kind in range(2)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "rated.jsonl").write_text(text, encoding="utf-8")
    chosen = {
        "file": "rated.jsonl",
        "dimensions": ["fluency", "relevance"],
        "folds": 3,
        "parts": 4,
        "batch": 4,
    }
    own = {"filler": str(model), "encoder": "filler", "start": "zero", "options": OPTIONS}
    return Recipe("maskeval-weighers", "mine", SETTINGS, {**chosen, **data}, own, by_epoch=True)


def test_one_score_by_hand() -> None:
    """W = (ln 3, 0) gives sub-words with the states (1, 0) and (0, 1) the weights 3/4 and 1/4."""
    ours = side([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0])
    theirs = side([[0.0, 1.0], [0.0, 2.0], [1.0, 5.0]], [0.5, 0.0, 1.0])  # weights 1/5, 1/5, 3/5
    pair = RatedPair("1", "d", (ours, theirs), 0.5, {})
    task = WeighTask([pair, pair], [0.2, 0.2], [1], batch=1, seed=1, start="zero")
    assert task.predict([pair]).item() == pytest.approx((1 / 2 + 1.5 / 3) / 2)
    with torch.no_grad():
        task.model.weight.copy_(torch.tensor([[np.log(3), 0.0]]))
    score = (3 / 4 + (0.5 / 5 + 3 / 5)) / 2
    assert task.predict([pair]).item() == pytest.approx(score)
    assert task.loss(0).item() == pytest.approx((score - 0.2) ** 2)
    assert task.validate() == {"loss": pytest.approx((score - 0.2) ** 2)}
    # d loss / d W_1 = 2 (score − target) · ½ (3/4 · 1/4 for the candidate, 3/5 · (1 − 7/10) for the source)
    task.loss(0).backward()  # type: ignore[no-untyped-call]
    assert task.model.weight.grad is not None
    assert task.model.weight.grad[0, 0].item() == pytest.approx(
        (score - 0.2) * (3 / 16 + 3 / 5 * 0.3), rel=1e-5
    )


def test_a_toy_set_is_learned() -> None:
    """Only words of one kind are predicted correctly, and human ratings depend on these words only."""
    rng = np.random.default_rng(1)
    rows = []
    for at in range(20):
        kinds = rng.integers(0, 2, size=8)
        kinds[:2] = 0, 1
        values = np.where(kinds == 0, at % 2, rng.integers(0, 2, size=8))
        one = side(np.eye(2)[kinds].tolist(), values.tolist())
        rows.append(RatedPair(str(at), str(at), (one, one), float(values.mean()), {}))
    targets = [float(at % 2) for at in range(20)]
    task = WeighTask(rows, targets, [0, 1, 2, 3], batch=4, seed=1, start="random")
    first = task.validate()["loss"]
    optimizer = torch.optim.Adam(task.model.parameters(), lr=0.1)
    for step in range(100):
        optimizer.zero_grad()
        task.loss(step).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert task.validate()["loss"] < first / 20
    assert task.weight[0] > task.weight[1] + 3


def test_targets_with_the_spread_of_uniform_scores() -> None:
    rows = [replace(rated(at), uniform=uniform) for at, uniform in enumerate((0.4, 0.6, 0.9))]
    assert train_scale.spread_like_uniform(rows, [0.0, 1.0, 0.5], [2]) == pytest.approx([0.4, 0.6, 0.5])
    same = train_scale.spread_like_uniform(rows, [1.0, 1.0, 0.5], [2])
    assert same == pytest.approx([0.5, 0.5, 0.0]), "no spread to map: moved, not stretched"


def test_the_side_that_agrees_with_people_counts_more() -> None:
    def pair(ours: float, theirs: float) -> RatedPair:
        return RatedPair("1", "d", (side([[0.0]], [ours]), side([[0.0]], [theirs])), 0.5, {})

    rows = [pair(0.1, 0.9), pair(0.5, 0.2), pair(0.9, 0.5), pair(0.3, 0.3)]
    assert train_scale.balanced(rows, [0.1, 0.5, 0.9, 0.0], [3]) == (1.0, 0.0)
    assert train_scale.balanced(rows, [0.9, 0.2, 0.5, 0.0], [3]) == (0.0, 0.0)
    assert train_scale.balanced(rows, [0.5, 0.5, 0.5, 0.0], [3]) == (0.5, 0.0), "nothing to choose by"
    task = WeighTask(rows, [0.0] * 4, [3], batch=1, seed=1, start="zero")
    task.share = 0.8
    assert task.predict(rows[:1]).item() == pytest.approx(0.8 * 0.1 + 0.2 * 0.9)


def test_the_first_words_of_the_source_count_more_if_people_agree() -> None:
    def pair(ours: float, *theirs: float) -> RatedPair:
        states = [[0.0]] * len(theirs)
        return RatedPair("1", "d", (side([[0.0]], [ours]), side(states, list(theirs))), 0.5, {})

    rows = [pair(0.1, 1, 0, 0), pair(0.9, 0, 1, 0), pair(0.5, 0, 0, 1), pair(0.9, 0, 0, 0)]
    share, fall = train_scale.balanced(rows, [0.9, 0.4, 0.3, 0.0], [])
    assert (share, fall) == (0.0, 1.0)
    task = WeighTask(rows, [0.0] * 4, [3], batch=1, seed=1, start="zero")
    task.share, task.fall = share, fall
    total = 1 + 1 / 2 + 1 / 3
    assert task.predict(rows).tolist() == pytest.approx([1 / total, 1 / 2 / total, 1 / 3 / total, 0.0])


def test_a_learned_share_decides_the_score(tiny_copy_infiller: Path, tmp_path: Path) -> None:
    model = str(tiny_copy_infiller)
    values = []
    for share in (0.5, 1.0):
        Head("fluency", "filler", np.ones(32, dtype=np.float32), share).save(tmp_path)
        metric = build("paper", model, RUNTIME, {"dimension": "fluency", "weigher": str(tmp_path)})
        score = metric.score([Example("1", SENTENCES[0], f"{SENTENCES[0]} {SENTENCES[1]}")])[0]
        values.append((score.value, score.parts, metric.signature))
    assert values[0][0] == pytest.approx(sum(values[0][1].values()) / 2)
    assert values[1][0] == values[1][1]["candidate"]
    assert values[0][2] != values[1][2]


def test_random_starts_follow_from_the_seed() -> None:
    rows = [rated(1), rated(2)]
    a, b, c = (WeighTask(rows, [0, 1], [1], batch=1, seed=seed, start="random").weight for seed in (1, 1, 2))
    assert ((a == b).all(), (a != c).any()) == (True, True)


@pytest.mark.parametrize("name", ["tiny_t5", "tiny_roberta_lm"])
def test_what_is_learned_is_what_the_metric_computes(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    model = str(request.getfixturevalue(name))
    filler, encoder = load_filler(model, RUNTIME), PairEncoder.load(model, RUNTIME)
    options = MaskEvalOptions(score="probability")
    recipe(tmp_path, Path(model))
    ratings = read_ratings(tmp_path / "rated.jsonl", ["fluency"])[:5]
    uniform = MaskEval(filler, options=options)
    rows = word_states(ratings, uniform, encoder, tmp_path)
    examples = [example for example, _ in ratings]
    assert [row.uniform for row in rows] == pytest.approx([score.value for score in uniform.score(examples)])
    task = WeighTask(rows, [0.0] * 5, [0], batch=2, seed=3, start="random")
    head = Head("fluency", "filler", task.weight * 20)
    with torch.no_grad():
        task.model.weight.mul_(20)
        ours = task.predict(rows).tolist()
    learned = MaskEval(filler, Learned(TokenWeighter(encoder, head)), options).score(examples)
    assert ours == pytest.approx([score.value for score in learned], rel=1e-4)
    assert ours != pytest.approx([row.uniform for row in rows], rel=0.05)


def test_train_save_load_and_score(
    tiny_roberta_lm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = recipe(tmp_path, tiny_roberta_lm)
    figures = train_weighers(chosen, tmp_path, tmp_path / "out", progress=False)
    kinds = [
        f"{split}_{what}" for split in ("document", "example") for what in ("learned", "uniform", "gain")
    ]
    kinds += [f"paper_{what}" for what in ("learned", "uniform", "gain", "rows")]
    names = [f"{d}_{kind}" for d in ("fluency", "relevance") for kind in ("loss", *kinds)]
    assert list(figures) == ["rows", *names]
    assert figures["rows"] == 24
    assert figures["fluency_paper_rows"] == 24 - round(24 * 700 / 1600)
    assert figures["fluency_document_uniform"] == figures["fluency_example_uniform"], "the same rows"
    for dimension in ("fluency", "relevance"):
        history = json.loads((tmp_path / "out" / dimension / "history.json").read_text())
        assert len(history["validations"]) == 3
    given = {**OPTIONS, "dimension": "fluency", "weigher": str(tmp_path / "out" / "weigher")}
    metric = build("paper", str(tiny_roberta_lm), RUNTIME, given)
    example = Example("1", SENTENCES[0], SENTENCES[1])
    plain = build("paper", str(tiny_roberta_lm), RUNTIME, OPTIONS).score([example])[0].value
    assert metric.score([example])[0].value != pytest.approx(plain, rel=1e-4)
    # Another run asks the filler nothing: it is done, and what it would ask is known.
    monkeypatch.setattr(MaskEval, "score", None)
    assert train_weighers(chosen, tmp_path, tmp_path / "out", progress=False) == figures
    (tmp_path / "out" / train_rows.KNOWN).write_text("{", encoding="utf-8")
    with pytest.raises(TypeError):
        train_weighers(chosen, tmp_path, tmp_path / "out", progress=False)


def test_shares_keep_documents_together_and_do_not_depend_on_order() -> None:
    rows = [rated(at, document=f"d{at // 4}") for at in range(40)]
    parts = share_out(rows, "document", 5, seed=1)
    assert sorted(at for part in parts for at in part) == list(range(40))
    assert [len(part) for part in parts] == [8] * 5
    assert all(len({rows[at].document for at in part}) == 2 for part in parts)
    turned = share_out(rows[::-1], "document", 5, seed=1)
    assert [{rows[::-1][at].id for at in part} for part in turned] == [
        {rows[at].id for at in part} for part in parts
    ]
    assert share_out(rows, "document", 5, seed=2) != parts
    single = share_out(rows, "example", 5, seed=1)
    assert max(len({rows[at].document for at in part}) for part in single) > 2
    with pytest.raises(DataError, match="10 documents cannot be split into 11 parts"):
        share_out(rows, "document", 11, seed=1)


def test_a_fold_is_scored_by_what_never_saw_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [rated(at, document=f"d{at // 2}") for at in range(12)]
    known: list[tuple[set[str], set[str]]] = []

    class Noted(WeighTask):
        def predict(self, rows: Sequence[RatedPair]) -> torch.Tensor:
            seen = ids(self.rows) | ids(self.held_out)
            if ids(rows) - seen:
                known.append((seen, ids(rows)))
            return super().predict(rows)

    monkeypatch.setattr(train_weights, "WeighTask", Noted)
    folds = share_out(rows, "document", 3, seed=1)
    plan = Plan(Recipe("", "", SETTINGS), batch=4, parts=2, start="zero")
    cross_validate(rows, [at / 12 for at in range(12)], folds, plan, ("document", tmp_path))
    assert [asked for _, asked in known] == [{rows[at].id for at in fold} for fold in folds]
    assert all(seen | asked == ids(rows) and not seen & asked for seen, asked in known)


def test_the_papers_split_trains_on_700_examples_of_1600_and_tests_on_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"d{at // 16}\n{at}" for at in range(1600)]
    chosen, rest = draw_apart(names, 700 / 1600, seed=1)
    assert (len(chosen), len(rest)) == (700, 900) and sorted(chosen + rest) == list(range(1600))
    turned = draw_apart(names[::-1], 700 / 1600, seed=1)[0]
    assert {names[::-1][at] for at in turned} == {names[at] for at in chosen}
    assert draw_apart(names, 700 / 1600, seed=2)[0] != chosen

    rows = [rated(at, document=f"d{at // 2}") for at in range(12)]
    seen: list[set[str]] = []

    class Noted(WeighTask):
        def predict(self, rows: Sequence[RatedPair]) -> torch.Tensor:
            known = ids(self.rows) | ids(self.held_out)
            if not ids(rows) <= known:
                seen.extend([known, ids(rows)])
            return super().predict(rows)

    monkeypatch.setattr(train_weights, "WeighTask", Noted)
    plan = Plan(Recipe("", "", SETTINGS), batch=4, parts=2, start="zero")
    figures = validate_on_the_rest(rows, [at / 12 for at in range(12)], 1 / 3, plan, tmp_path)
    assert [len(part) for part in seen] == [4, 8] and not seen[0] & seen[1]
    assert figures["rows"] == 8
    assert figures["gain"] == pytest.approx(figures["learned"] - figures["uniform"], nan_ok=True)


def ids(rows: Sequence[RatedPair]) -> set[str]:
    return {row.id for row in rows}


def test_sub_words_of_words_without_a_score_are_left_out() -> None:
    words = (Segment(0, 0, 0, 1), Segment(2, 3, 2, 4), Segment(4, 4, 4, 5))  # sub-word 1 is white space
    states = np.arange(8, dtype=np.float32).reshape(4, 2)
    found = train_rows._side(TokenizedText((7, 8, 9, 10, 11), words), states, [1.0, 0.5, float("nan")])
    assert found.states.tolist() == states[:3].tolist()
    assert found.values.tolist() == [1.0, 0.5, 0.5]


def test_targets_by_hand() -> None:
    assert [target_of(score, RatingData("f")) for score in (1, 2, 5)] == [0, 0.25, 1]
    assert [target_of(score, RatingData("f", target="max")) for score in (1, 2, 5)] == [0.2, 0.4, 1]


def test_pearson_by_hand() -> None:
    assert pearson([1, 2, 3], [1, 2, 6]) == pytest.approx(5 / 28**0.5)
    assert np.isnan(pearson([1, 1, 1], [1, 2, 3]))


def test_what_cannot_be_learned_from(tiny_t5: Path, tiny_bert: Path, tmp_path: Path) -> None:
    chosen = recipe(tmp_path, tiny_t5)

    def told(said: str, error: type[Exception], changed: Recipe) -> None:
        with pytest.raises(error, match=said):
            train_weighers(changed, tmp_path, tmp_path / "out", progress=False)

    told("add file and dimensions to", UsageError, replace(chosen, data={"file": "rated.jsonl"}))
    told("no row has a number for beauty", DataError, recipe(tmp_path, tiny_t5, dimensions=["beauty"]))
    told("target=cube: choose one of range, max", UsageError, recipe(tmp_path, tiny_t5, target="cube"))
    told("folds 0 or at least 2", UsageError, recipe(tmp_path, tiny_t5, folds=1))
    told(
        "remove keep and dimension",
        UsageError,
        replace(chosen, model={**chosen.model, "options": {"keep": 0.5}}),
    )
    told("use the tokenizer of", BadModel, replace(chosen, model={**chosen.model, "encoder": str(tiny_bert)}))
    (tmp_path / "rated.jsonl").write_text('{"scores": {"fluency": 1}}\n', encoding="utf-8")
    told("row 1: candidate and source must be texts", DataError, chosen)
