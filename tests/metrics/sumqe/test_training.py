"""Training of SUM-QE on tiny models: loss, weights, validation, and folds."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gistmeter import catalog
from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.metrics.sumqe.qualities import QUALITIES
from gistmeter.metrics.sumqe.training.folds import folds_of
from gistmeter.metrics.sumqe.training.rows import Rated, read_set, split
from gistmeter.metrics.sumqe.training.task import RateOptions, RateTask, Rows, read_rows_of
from gistmeter.metrics.sumqe.training.train import PREDICTIONS, RateData, _hold_out, train_regressor
from gistmeter.models.rate.files import RegressorPlan, new_regressor
from gistmeter.models.rate.text_regressor import TextRegressor
from gistmeter.models.run.runtime import Runtime
from gistmeter.training.recipe import Recipe, Settings
from tests.tiny_models import SENTENCES

RUNTIME = Runtime(device="cpu")
SETTINGS = Settings(steps=30, learning_rate=1e-2, validate_every=10, checkpoint_every=10)
NAN = math.nan


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_file(folder: Path, name: str = "rows.jsonl", documents: int = 12) -> Path:
    """Return texts of one system with high ratings, and of two with low ratings."""
    rows = [
        {
            "id": f"{at}-{system}",
            "doc_id": f"{name}{at}",
            "system": system,
            "candidate": f"{SENTENCES[0 if system == 'good' else 1 + at % 4]} {name[0]} {at}",
            "scores": {"grammar": 1 if system == "good" else -1, "other": None, "focus": 0},
        }
        for at in range(documents)
        for system in ("good", "bad", "other")
    ]
    return write(folder / name, rows)


def recipe(base: Path, *sets: Mapping[str, Any], **parts: Any) -> Recipe:  # noqa: ANN401
    data = {"sets": list(sets), "parts": 3, "batch": 4, **parts.pop("data", {})}
    model = {"base": str(base), "layers": 1, "window": 40, **parts.pop("model", {})}
    return Recipe("sumqe", "mine", parts.pop("settings", SETTINGS), data, model)


ROWS = {"name": "mine", "file": "rows.jsonl", "low": -1, "high": 1, "scores": {"grammar": "grammaticality"}}


def text_regressor(base: Path, plan: RegressorPlan) -> TextRegressor:
    torch.manual_seed(1)
    model, tokenizer, plan = new_regressor(str(base), plan)
    return TextRegressor(
        model, tokenizer, qualities=plan.qualities, window=plan.window, identity="new", runtime=RUNTIME
    )


def task(base: Path, labels: list[list[float]], folder: Path, **options: Any) -> RateTask:  # noqa: ANN401
    regressor = text_regressor(base, RegressorPlan(QUALITIES[:2], layers=1))
    ids = [regressor.row([tokens]) for tokens in regressor.tokenize(SENTENCES[: len(labels)])]
    rows = Rows(ids, np.array(labels, dtype=np.float32), ["a"] * len(ids))
    return RateTask(regressor, rows, rows, RateOptions(batch=4, **options), folder)


def test_missing_labels_teach_nothing(tiny_bert: Path, tmp_path: Path) -> None:
    labels = [[0.5, NAN], [0.1, 1.0], [NAN, NAN]]
    joint, summed = (task(tiny_bert, labels, tmp_path, loss=loss) for loss in ("joint", "sum"))
    said = joint.model(*joint.regressor.batch(joint.training.ids)).detach().numpy()
    first = [(said[0, 0] - 0.5) ** 2, (said[1, 0] - 0.1) ** 2]
    second = (said[1, 1] - 1.0) ** 2
    assert float(joint.loss(0).detach()) == pytest.approx((sum(first) + second) / 3, rel=1e-5)
    assert float(summed.loss(0).detach()) == pytest.approx(sum(first) / 2 + second, rel=1e-5), (
        "M-5: separate losses"
    )
    none = task(tiny_bert, [[0.5, NAN], [0.2, NAN]], tmp_path)
    none.loss(0).backward()  # type: ignore[no-untyped-call]
    weight = none.model.heads[1].weight
    assert isinstance(weight, torch.nn.Parameter) and weight.grad is not None
    assert not weight.grad.any(), "a quality that nobody rated does not move its head"


def test_every_row_comes_once_an_epoch(tiny_bert: Path, tmp_path: Path) -> None:
    regressor = text_regressor(tiny_bert, RegressorPlan(QUALITIES, layers=1))
    ids = [(2, *range(5, 6 + at % 9), 3) for at in range(23)]
    rows = Rows(ids, np.zeros((23, 5), np.float32), ["a"] * 23)
    for pool in (1, 3):
        one = RateTask(regressor, rows, rows, RateOptions(batch=4, pool=pool), tmp_path)
        epoch = [one.batches.rows_of(step) for step in range(one.steps)]
        assert sorted(at for batch in epoch for at in batch) == list(range(23))
    widths = [
        max(map(len, (ids[at] for at in batch))) - min(map(len, (ids[at] for at in batch))) for batch in epoch
    ]
    assert np.mean(widths) < 5, "batches of a pool hold rows of like length"


def test_the_authors_stop_after_the_first_epoch_that_is_no_better(tiny_bert: Path, tmp_path: Path) -> None:
    one = task(tiny_bert, [[0.5, 0.2], [0.1, 1.0]], tmp_path)
    losses = iter([5.0, 3.0, 4.0, 1.0])
    one._error = lambda said, labels: torch.tensor(next(losses))  # type: ignore[method-assign]
    with torch.no_grad():
        stops = [one.validate()["stop"] for _ in range(4)]
    assert int(np.argmin(stops)) == 2, "the epoch after the best, though a later one is better"
    never = task(tiny_bert, [[0.5, 0.2], [0.1, 1.0]], tmp_path)
    never._error = lambda said, labels: torch.tensor(-float(len(never.losses)))  # type: ignore[method-assign]
    with torch.no_grad():
        assert int(np.argmin([never.validate()["stop"] for _ in range(4)])) == 3


def test_long_texts_are_learned_from_their_first_window(tiny_bert: Path) -> None:
    regressor = text_regressor(tiny_bert, RegressorPlan(QUALITIES, window=12))
    rated = [Rated(" ".join(SENTENCES), {"focus": 1.0}, "a", "d"), Rated("Rain.", {"focus": 0.5}, "a", "e")]
    rows = read_rows_of(rated, regressor)
    assert [len(row) <= 12 and row[-1] == regressor.end != row[-2] for row in rows.ids] == [True, True]
    np.testing.assert_array_equal(rows.labels[:, 3], np.array([1.0, 0.5], np.float32))
    assert np.isnan(rows.labels[:, [0, 1, 2, 4]]).all()


@pytest.mark.parametrize("flavour", ["m1", "m5", "s1"])
def test_a_rater_learns_what_people_like(tmp_path: Path, tiny_bert: Path, flavour: str) -> None:
    rows_file(tmp_path)
    settings = replace(SETTINGS, steps=60, learning_rate=3e-3)
    if flavour == "s1":
        settings = replace(SETTINGS, steps=2)
    mine = recipe(tiny_bert, ROWS, model={"flavour": flavour, "layers": 0}, settings=settings)
    both = {"grammar": "grammaticality", "focus": "focus"}
    every = {name: name for name in QUALITIES}
    if flavour == "s1":  # each of the five needs rows of its own
        lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
        for line in lines:
            line["scores"] = dict.fromkeys(QUALITIES, line["scores"]["grammar"])
        write(tmp_path / "rows.jsonl", lines)
    chosen = {**ROWS, "scores": every if flavour == "s1" else both}
    mine = replace(mine, data={**mine.data, "sets": [chosen]})
    figures = train_regressor(mine, tmp_path, tmp_path / "out", progress=False)
    metric = catalog.build("sumqe", model=str(tmp_path / "out" / "model"), runtime=RUNTIME)
    good, bad = metric.score([Example("1", SENTENCES[0]), Example("2", SENTENCES[2])])
    if flavour == "s1":
        assert {name.rsplit("_", 1)[0] for name in figures if name.endswith("_loss")} == set(QUALITIES)
        assert (tmp_path / "out" / "focus" / "history.json").is_file()
    else:
        assert good.parts["grammaticality"] > bad.parts["grammaticality"] + 1
        assert figures["mine_grammaticality"] > 0.6


def test_folds_by_document_and_by_set(tmp_path: Path, tiny_bert: Path) -> None:
    rows_file(tmp_path)
    rows_file(tmp_path, "more.jsonl", 9)
    more = {**ROWS, "name": "more", "file": "more.jsonl"}
    settings = replace(SETTINGS, steps=2, validate_every=2)
    for kind, names in (("sets", ["fold-mine", "fold-more"]), ("2", ["fold-0", "fold-1"])):
        mine = recipe(tiny_bert, ROWS, more, data={"folds": kind}, settings=settings)
        figures = train_regressor(mine, tmp_path, tmp_path / kind, progress=False)
        assert {"mine_grammaticality_rows", "more_grammaticality_systems"} <= figures.keys()
        lines = (tmp_path / kind / PREDICTIONS).read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        assert len(found) == 63 and {line["fold"] for line in found} == set(names)
        of_document = {(line["doc_id"], line["fold"]) for line in found}
        assert len(of_document) == 21, "a document is in one fold"
        assert set(found[0]["said"]) == set(QUALITIES)
        assert found[0]["people"] == {"grammaticality": 5.0}


@pytest.mark.parametrize("parts", ["2", "3", "5", "10"])
def test_every_fold_has_rows_for_validation(parts: str) -> None:
    rows = [Rated(f"Text {at} on {at}.", {"focus": 0.5}, "s", f"d{at}", f"x{at % 7}") for at in range(400)]
    for fold in folds_of(rows, parts, 1):
        _, held = _hold_out(fold.rest, RateData(folds=parts), 1)
        assert 0.04 < len(held) / len(fold.rest) < 0.2
    assert _hold_out(rows, RateData(), 1) == split(rows, 10, 1)


def test_official_holds_the_last_rows_out(tmp_path: Path, tiny_bert: Path) -> None:
    rows_file(tmp_path)
    mine = recipe(tiny_bert, ROWS, data={"preset": "official", "parts": 10})
    figures = train_regressor(mine, tmp_path, tmp_path / "out", progress=False)
    assert figures["stop"] < 0
    kept, held = split(read_set(tmp_path, ROWS), 3, 1)
    assert {row.document for row in kept}.isdisjoint(row.document for row in held) and held


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"data": {"folds": "1"}}, "folds=1"),
        ({"data": {"preset": "paper"}}, "choose one of clean, official"),
        ({"data": {"parts": 1}}, "set parts to at least 2"),
        ({"data": {"weight": 1}}, "unknown key 'weight'"),
        ({"model": {"heads": 5}}, "unknown key 'heads'"),
        ({"model": {"qualities": "focus"}}, "unknown key 'qualities'"),
        ({"data": {"sets": []}}, r"add \[\[data.sets\]\]"),
    ],
)
def test_a_recipe_that_cannot_be(tmp_path: Path, tiny_bert: Path, parts: dict[str, Any], says: str) -> None:
    rows_file(tmp_path)
    with pytest.raises(UsageError, match=says):
        train_regressor(recipe(tiny_bert, ROWS, **parts), tmp_path, tmp_path / "out", progress=False)


def test_a_rater_goes_on_from_another(tmp_path: Path, tiny_bert: Path) -> None:
    rows_file(tmp_path)
    first = recipe(tiny_bert, ROWS)
    train_regressor(first, tmp_path, tmp_path / "one", progress=False)
    start = {"start": str(tmp_path / "one" / "model")}
    still = replace(SETTINGS, steps=1, learning_rate=1e-9)
    figures = train_regressor(
        recipe(tiny_bert, ROWS, model=start, settings=still), tmp_path, tmp_path / "two", progress=False
    )
    fresh = train_regressor(
        recipe(tiny_bert, ROWS, settings=still), tmp_path, tmp_path / "three", progress=False
    )
    assert figures["loss"] < fresh["loss"]
