"""Test `quality`: weights, standardization, undefined features, signatures."""

import json
import math
from pathlib import Path

import pytest

from gistmeter import catalog
from gistmeter.combined.linear import Linear, Term
from gistmeter.core.errors import BadModel, UsageError
from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.score import Score
from gistmeter.models.run.runtime import Runtime
from tests.tiny_combined import DIMENSIONS, save_quality

PAIR = Example("1", "A ferry turned back. Nobody drowned.", "A ferry turned back in the storm.")
CPU = Runtime(device="cpu")


def quality(folder: Path, **options: object) -> Metric:
    return catalog.build("quality", model=str(folder), runtime=CPU, options=options)


def test_a_dimension_is_the_weighted_sum_of_standardized_members(tiny_quality: Path) -> None:
    score = quality(tiny_quality, dimension="coherence").score([PAIR])[0]
    copied = catalog.build("extractive").score([PAIR])[0].value
    new = catalog.build("novelty").score([PAIR])[0].value
    assert score.value == pytest.approx(4.0 + 0.4 * (copied - 0.5) / 0.5 - 0.3 * (new - 0.5) / 0.25)
    assert list(score.parts) == list(DIMENSIONS)


def test_mean_is_the_mean_of_the_dimensions(tiny_quality: Path) -> None:
    score = quality(tiny_quality).score([PAIR])[0]
    assert score.value == pytest.approx(sum(score.parts.values()) / len(DIMENSIONS))


def test_a_result_stays_in_the_range_of_people() -> None:
    steep = Linear(3.0, (Term("a", "value", 0.0, 1.0, 10.0),), 1.0, 5.0)
    assert [steep.of({"a": Score("1", value)}) for value in (-4.0, 0.0, 4.0)] == [1.0, 3.0, 5.0]


def test_an_undefined_feature_counts_as_average() -> None:
    linear = Linear(3.0, (Term("a", "value", 0.2, 1.0, 10.0), Term("a", "x", 0.2, 1.0, 1.0)), 1.0, 5.0)
    assert linear.of({"a": Score.undefined("1", "nothing to score")}) == 3.0
    assert linear.of({"a": Score("1", 0.2, {"x": math.nan})}) == 3.0


def test_a_member_without_a_value_is_flagged_and_only_all_of_them_a_problem(tmp_path: Path) -> None:
    folder = save_quality(tmp_path)
    facts = json.loads((folder / "config.json").read_text())
    facts["members"] = {"extractive": {}, "rouge": {}}
    for linear in facts["dimensions"].values():
        linear["terms"] = [{**linear["terms"][0], "spec": "rouge"}]
    (folder / "config.json").write_text(json.dumps(facts))
    metric = quality(folder)
    assert set(metric.needs) == {"source", "references"}
    alone = metric.score([PAIR])[0]
    assert alone.problem == "the row has no references"


def test_a_dimension_without_weights_is_refused(tmp_path: Path) -> None:
    folder = save_quality(tmp_path)
    facts = json.loads((folder / "config.json").read_text())
    del facts["dimensions"]["fluency"]
    (folder / "config.json").write_text(json.dumps(facts))
    with pytest.raises(
        UsageError, match="dimension=fluency: these weights have mean, consistency, coherence"
    ):
        quality(folder, dimension="fluency")


def test_simplifications_have_questions_of_their_own(tmp_path: Path) -> None:
    folder = save_quality(tmp_path)
    facts = json.loads((folder / "config.json").read_text())
    facts["dimensions"] = {
        name: facts["dimensions"]["fluency"] for name in ("meaning", "fluency", "simplicity")
    }
    (folder / "config.json").write_text(json.dumps(facts))
    metric = quality(folder, text="simplification", dimension="simplicity")
    assert list(metric.score([PAIR])[0].parts) == ["meaning", "fluency", "simplicity"]
    with pytest.raises(UsageError, match="these weights have mean, meaning, fluency, simplicity"):
        quality(folder, text="simplification", dimension="relevance")
    with pytest.raises(UsageError, match="quality has no preset 'large'; there are: mini, base"):
        catalog.build("quality", preset="large")


def test_the_signature_names_the_weights_and_each_member(tiny_quality: Path, tmp_path: Path) -> None:
    text = quality(tiny_quality).signature.text
    assert "model=sha256:" in text and "extractive@" in text and "novelty@" in text
    other = save_quality(tmp_path)
    content = (other / "config.json").read_text()
    (other / "config.json").write_text(content.replace('"weight": 0.4', '"weight": 0.5'))
    assert quality(other).signature.text != text


@pytest.mark.parametrize("damage", ['"members"', '"mean"', '"dimensions"'])
def test_damaged_weights_are_one_line(tmp_path: Path, damage: str) -> None:
    folder = save_quality(tmp_path)
    content = (folder / "config.json").read_text()
    (folder / "config.json").write_text(content.replace(damage, '"other"'))
    with pytest.raises(BadModel, match=r"config\.json is not valid .*; train it again"):
        quality(folder)


def test_another_kind_of_model_is_refused(tiny_check: Path) -> None:
    with pytest.raises(BadModel, match="contains a gistmeter-check, not a gistmeter-quality"):
        quality(tiny_check)


def test_all_does_not_select_combined_metrics() -> None:
    assert not set(catalog.COMBINED) & set(catalog.parse_all(["all"]))
