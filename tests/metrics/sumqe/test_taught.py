"""A larger regressor teaches a smaller one."""

from dataclasses import replace
from pathlib import Path

import pytest

from gistmeter.core.errors import BadModel, ModelNotFound
from gistmeter.metrics.sumqe.qualities import QUALITIES
from gistmeter.metrics.sumqe.training.rows import Rated
from gistmeter.metrics.sumqe.training.task import read_rows_of
from gistmeter.metrics.sumqe.training.taught import taught
from gistmeter.metrics.sumqe.training.train import train_regressor
from gistmeter.models.rate.files import RegressorPlan
from tests.metrics.sumqe.test_training import ROWS, SETTINGS, recipe, rows_file, text_regressor, write
from tests.tiny_models import SENTENCES


def test_the_teacher_has_half_of_a_known_label_and_all_of_an_unknown_one(tiny_bert: Path) -> None:
    teacher = text_regressor(tiny_bert, RegressorPlan(QUALITIES, layers=1))
    rows = [
        Rated(SENTENCES[0], {"focus": 1.0}, "made focus", "d"),
        Rated(SENTENCES[1], {}, "made focus", "e"),
    ]
    said = teacher.rate(read_rows_of(rows, teacher).ids)
    first, second = taught(rows, teacher)
    assert first.labels["focus"] == pytest.approx((1 + said[0, QUALITIES.index("focus")]) / 2)
    assert [second.labels[name] for name in QUALITIES] == pytest.approx(said[1].tolist())
    assert (first.text, first.set, first.document) == (rows[0].text, "made focus", "d")


def test_a_teacher_of_other_qualities_is_an_error(tiny_bert: Path) -> None:
    teacher = text_regressor(tiny_bert, RegressorPlan(QUALITIES[:2], layers=1))
    with pytest.raises(BadModel, match="does not rate coherence, focus"):
        taught([Rated("Rain.", {"focus": 1.0, "coherence": 0.0}, "made focus", "d")], teacher)


def test_each_fold_has_its_own_teacher(tmp_path: Path, tiny_bert: Path) -> None:
    rows_file(tmp_path)
    texts = [" ".join(SENTENCES[at % 4 :] + SENTENCES[: at % 4]) for at in range(80)]
    write(tmp_path / "clean.jsonl", [{"candidate": f"{text} {at}"} for at, text in enumerate(texts)])
    settings = replace(SETTINGS, steps=2, validate_every=2)
    made = {"rows": 12, "validation": 6, "sets": [{"file": "clean.jsonl"}]}
    train_regressor(recipe(tiny_bert, ROWS, settings=settings), tmp_path, tmp_path / "fold-0", progress=False)
    teacher = {"teacher": str(tmp_path / "{fold}" / "model")}
    folds = recipe(tiny_bert, ROWS, model=teacher, data={"folds": "2", "made": made}, settings=settings)
    with pytest.raises(ModelNotFound, match="fold-1"):
        train_regressor(folds, tmp_path, tmp_path / "out", progress=False)
    assert (tmp_path / "out" / "fold-0" / "model").is_dir(), "the teacher of the first fold was found"
