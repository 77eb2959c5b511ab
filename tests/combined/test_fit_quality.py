"""Fit `quality`: weights and signs, left-out groups, and the recipe from files to a metric."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gistmeter import catalog
from gistmeter.app.cli import main
from gistmeter.combined.quality import read_quality
from gistmeter.combined.training.judged import BY, Judged, folds, read_judged
from gistmeter.combined.training.quality import Array, Problem, fixed
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.core.score import Score
from gistmeter.io.rows import read_rows

TERMS: list[dict[str, Any]] = [
    {"spec": "a", "part": "value", "sign": 1},
    {"spec": "b", "part": "value", "sign": 1},
    {"spec": "c", "part": "x", "sign": 0},
]


def judged(n: int, *, seed: int = 0, set: str = "one") -> list[Judged]:
    """Return rows with three independent features; the third is a component and sometimes undefined."""
    draw = np.random.default_rng(seed).normal(size=(n, 3))
    return [
        Judged(
            set,
            f"{set}/d{at // 4}",
            f"{set}/s{at % 4}",
            {},
            {
                "a": Score("1", 5 + 2 * a),
                "b": Score("1", b),
                "c": Score("1", 0.0, {"x": math.nan if at % 50 == 7 else c}),
            },
        )
        for at, (a, b, c) in enumerate(draw.tolist())
    ]


def values(rows: list[Judged]) -> Array:
    """Return judgements: a counts, b counts negatively, c counts negatively."""
    found = [
        (row.scores["a"].value - 5) / 2 - row.scores["b"].value - 0.5 * row.scores["c"].parts["x"]
        for row in rows
    ]
    array: Array = np.nan_to_num(np.array(found, dtype=float)) + 3.0
    return array


def problem(rows: list[Judged], *, penalty: float = 1.0) -> Problem:
    return Problem(rows, values(rows), TERMS, scale=(1, 5), penalty=penalty)


def test_weights_follow_the_judgements_and_keep_their_sign() -> None:
    linear = problem(judged(400)).fit()
    weights = {term.spec: term.weight for term in linear.terms}
    assert weights["a"] > 0.5 and weights["c"] < -0.2
    assert "b" not in weights  # people reward less of it, which its sign forbids
    assert linear.intercept == pytest.approx(values(judged(400)).mean(), abs=0.1)


def test_a_penalty_makes_weights_alike_and_keeps_the_spread() -> None:
    """Two scores say nearly the same, and the judgements follow the first."""
    draw = np.random.default_rng(2).normal(size=(400, 2))
    rows = [
        Judged("one", str(at), str(at), {}, {"a": Score("1", a), "b": Score("1", 0.9 * a + 0.4 * b)})
        for at, (a, b) in enumerate(draw.tolist())
    ]
    judgements = 3 + 0.5 * draw[:, 0]
    ratios, spreads = [], []
    for penalty in (0.1, 4000.0):
        linear = Problem(rows, judgements, TERMS[:2], scale=(1, 5), penalty=penalty).fit()
        weights = {term.spec: term.weight for term in linear.terms}
        ratios.append(weights.get("b", 0) / weights["a"])
        spreads.append(np.std([linear.of(row.scores) for row in rows]))
    assert ratios[0] < 0.1 and 0.8 < ratios[1] < 1
    assert spreads == pytest.approx([judgements.std()] * 2, rel=0.1)


def test_each_dimension_may_have_its_own_penalty() -> None:
    rows = judged(60)
    sets = [
        ({"dimensions": {"fluency": "fluency"}}, [replace(row, judgements={"fluency": 1.0}) for row in rows])
    ]
    table = {"terms": [{**term, "dimensions": ["fluency"]} for term in TERMS], "scale": [1, 5]}
    assert Problem.of("fluency", table | {"penalty": {"fluency": 7}}, sets).penalty == 7
    assert Problem.of("fluency", table | {"penalty": 8}, sets).penalty == 8
    with pytest.raises(UsageError, match="penalty has no entry for fluency"):
        Problem.of("fluency", table | {"penalty": {"meaning": 7}}, sets)


def test_sets_of_another_level_do_not_disturb() -> None:
    first, second = judged(200), judged(200, seed=1, set="two")
    rows, judgements = first + second, np.concatenate([values(first), 50 - 0.001 * values(second)])
    both = Problem(rows, judgements, TERMS, scale=(1, 5), penalty=1.0).fit()
    assert abs(both.intercept - values(first).mean()) < 0.2  # the scale of the first set
    assert {term.spec for term in both.terms} <= {"a", "b", "c"}


def test_a_first_set_that_contradicts_the_signs_is_an_error() -> None:
    first, second = judged(200), judged(200, seed=1, set="two")
    judgements = np.concatenate([-0.3 * values(first), values(second)])
    with pytest.raises(DataError, match="does not rise with the judgements of one, the first set"):
        Problem(first + second, judgements, TERMS[:1], scale=(1, 5), penalty=1.0).fit()


def test_an_article_of_two_sets_is_one_document(tmp_path: Path) -> None:
    prepared(tmp_path, RECIPE)
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    for row in rows:
        row["source"] = row["source"].title().replace(" ", "\n")
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = {"rows": "rows.jsonl", "scores": "scores.jsonl"}
    one = read_judged(tmp_path, {"name": "one", **table}, [])
    two = read_judged(tmp_path, {"name": "two", **table, "rows": "other.jsonl"}, [])
    assert len({row.document for row in one + two}) == 10
    assert len({row.system for row in one + two}) == 8
    for row in rows:
        row["source"] = None
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    two = read_judged(tmp_path, {"name": "two", **table, "rows": "other.jsonl"}, [])
    assert {row.document for row in two} == {f"two/d{at}" for at in range(10)}


def test_groups_are_never_on_both_sides() -> None:
    rows = judged(120) + judged(40, set="two")
    for by in BY.values():
        held: list[int] = []
        for kept, left_out in folds(rows, by):
            assert not {by(rows[at]) for at in kept} & {by(rows[at]) for at in left_out}
            held += left_out
        assert sorted(held) == list(range(160))


def test_figures_stand_for_left_out_documents_systems_and_sets() -> None:
    rows = judged(200) + judged(200, seed=1, set="two")
    found = problem(rows).figures()
    assert set(found) == {
        f"{name}_by_{by}" for name in ("one", "two") for by in ("document", "system", "set")
    }
    assert all(0.5 < value < 0.95 for value in found.values())


def rows_file(folder: Path) -> Path:
    """Write rows whose judgement is their share of copied words."""
    words = [f"word{at}" for at in range(30)]
    path = folder / "rows.jsonl"
    with path.open("w") as file:
        for at in range(40):
            copied = at % 10
            text = " ".join(words[:copied] + [f"new{at}x{i}" for i in range(10 - copied)])
            row: dict[str, object] = {
                "id": str(at),
                "source": " ".join([f"report{at // 4}", *words]),
                "candidate": text,
                "doc_id": f"d{at // 4}",
            }
            row |= {"system": f"s{at % 4}", "scores": {"facts": 1 + copied / 3}}
            file.write(json.dumps(row) + "\n")
    return path


RECIPE = """
task = "quality"
scale = [1, 5]
penalty = 1.0
members = { extractive = {}, length_ratio = {} }
[[terms]]
spec = "extractive"
part = "value"
sign = 1
dimensions = ["consistency"]
[[terms]]
spec = "length_ratio"
part = "value"
sign = 0
dimensions = ["consistency"]
[[sets]]
name = "mine"
rows = "rows.jsonl"
scores = "scores.jsonl"
dimensions = { consistency = "facts" }
"""


def prepared(folder: Path, text: str) -> Path:
    """Score the rows and write a recipe; return its path."""
    rows, recipe = rows_file(folder), folder / "quality.toml"
    recipe.write_text(text)
    scores = str(folder / "scores.jsonl")
    assert main(["score", "extractive", "length_ratio", "-i", str(rows), "-o", scores, "--quiet"]) == 0
    return recipe


def trained(folder: Path, text: str) -> Path:
    """Train a recipe; return the output folder."""
    recipe, out = prepared(folder, text), folder / "out"
    assert main(["train", str(recipe), "--data", str(folder), "--output", str(out), "--quiet"]) == 0
    return out


def test_a_recipe_becomes_a_metric(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = trained(tmp_path, RECIPE)
    assert "consistency_mine_by_document" in capsys.readouterr().out
    metric = catalog.build("quality", model=str(out / "model"), options={"dimension": "consistency"})
    source = " ".join(f"word{at}" for at in range(30))
    texts = ("new old", "word1 word2")
    worse, better = metric.score([Example(str(at), text, source) for at, text in enumerate(texts)])
    assert 1 <= worse.value < better.value <= 5
    assert metric.members.keys() == {"extractive"}  # type: ignore[attr-defined]  # length says nothing here


def test_a_set_needs_only_the_scores_of_its_own_questions(tmp_path: Path) -> None:
    both = (
        RECIPE
        + """
[[terms]]
spec = "novelty"
part = "value"
sign = 0
dimensions = ["relevance"]
[[sets]]
name = "theirs"
rows = "rows.jsonl"
scores = "theirs.jsonl"
dimensions = { relevance = "facts" }
"""
    )
    recipe = prepared(tmp_path, both.replace("members = {", "members = { novelty = {},"))
    rows, scores = str(tmp_path / "rows.jsonl"), str(tmp_path / "theirs.jsonl")
    assert main(["score", "novelty", "-i", rows, "-o", scores, "--quiet"]) == 0
    catalog.train(recipe, tmp_path, tmp_path / "out", steps=None, progress=False)
    _, dimensions, _ = read_quality(str(tmp_path / "out" / "model"))
    assert [[term.spec for term in linear.terms] for linear in dimensions.values()] == [
        ["extractive"],
        ["novelty"],
    ]
    recipe.write_text(recipe.read_text().replace('["relevance"]', '["relevance", "consistency"]'))
    with pytest.raises(DataError, match="no scores by novelty"):
        catalog.train(recipe, tmp_path, tmp_path / "out", steps=None, progress=False)


def test_a_member_that_knows_the_rows_is_fitted_by_its_predictions_for_unseen_ones(tmp_path: Path) -> None:
    """Its scores are the judgements; without the row's document it knows nothing."""
    rows = judged(200)
    known = [
        replace(row, scores={"a": Score("1", value)}) for row, value in zip(rows, values(rows), strict=True)
    ]
    term = [TERMS[0]]
    assert min(Problem(known, values(rows), term, scale=(1, 5), penalty=1.0).figures().values()) > 0.99
    unseen = {"document": {"a": Score("1", 0.0)}, "system": {"b": Score("1", 0.0)}}
    fair = [replace(row, unseen=unseen) for row in known]
    figures = Problem(fair, values(rows), term, scale=(1, 5), penalty=1.0).figures()
    assert math.isnan(figures["one_by_document"]) and figures["one_by_system"] > 0.99


def test_predictions_of_a_cross_validation_stand_beside_the_scores(tmp_path: Path) -> None:
    rows = rows_file(tmp_path)
    scores = str(tmp_path / "scores.jsonl")
    assert main(["score", "novelty", "-i", str(rows), "-o", scores, "--quiet"]) == 0
    lines = [
        {"set": "mine", "candidate": row.example.candidate, "said": {"focus": at, "coherence": at + 2}}
        for at, row in enumerate(read_rows(str(rows)))
    ]
    table: dict[str, Any] = {"name": "mine", "rows": rows.name, "scores": "scores.jsonl"}
    table["unseen"] = {"novelty": {"system": "p.jsonl"}}
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = read_judged(tmp_path, table, ["novelty"])
    assert found[3].scores_without("system")["novelty"].parts == {"focus": 3, "coherence": 5}
    assert found[3].scores_without("document") == found[3].scores
    path.write_text("".join(json.dumps(line) + "\n" for line in lines[1:]))
    with pytest.raises(DataError, match=r"p\.jsonl has no prediction for the row 0"):
        read_judged(tmp_path, table, ["novelty"])
    path.write_text("{}")
    with pytest.raises(DataError, match="has no predictions of a cross-validation"):
        read_judged(tmp_path, table, ["novelty"])
    path.unlink()
    with pytest.raises(DataError, match="cannot read"):
        read_judged(tmp_path, table, ["novelty"])


def test_a_weight_is_only_for_a_question_without_judgements(tmp_path: Path) -> None:
    recipe = prepared(tmp_path, RECIPE.replace("sign = 1", "weight = 1"))
    with pytest.raises(UsageError, match="consistency has judgements, so its terms need a sign"):
        catalog.train(recipe, tmp_path, tmp_path / "out", steps=None, progress=False)


WEIGHTED = """
task = "quality"
scale = [-9, 9]
members = { extractive = {}, length_ratio = {} }
[[terms]]
spec = "extractive"
part = "value"
weight = 1
dimensions = ["meaning"]
[[terms]]
spec = "length_ratio"
part = "value"
weight = -2
dimensions = ["meaning"]
[[sets]]
name = "mine"
rows = "rows.jsonl"
scores = "scores.jsonl"
"""


def test_given_weights_need_no_judgements(tmp_path: Path) -> None:
    out = trained(tmp_path, WEIGHTED)
    metric = catalog.build("quality", model=str(out / "model"), options={"dimension": "meaning"})
    found = metric.score([row.example for row in read_rows(str(tmp_path / "rows.jsonl"))])
    values = np.array([score.value for score in found])
    assert values.mean() == pytest.approx(0, abs=1e-9) and values.std() == pytest.approx(1)
    copied = [at % 10 for at in range(40)]
    assert np.corrcoef(values, copied)[0, 1] > 0.99  # all texts have the same length


def test_without_rows_nothing_can_be_standardized() -> None:
    with pytest.raises(DataError, match="no row"):
        fixed([], [{"spec": "a", "part": "value", "weight": 1}], scale=(-9, 9))


def test_scores_of_other_rows_are_refused(tmp_path: Path) -> None:
    rows = rows_file(tmp_path)
    scores = str(tmp_path / "scores.jsonl")
    table = {"name": "mine", "rows": rows.name, "scores": "scores.jsonl"}
    assert main(["score", "novelty", "-i", str(rows), "-o", scores, "--quiet", "--limit", "9"]) == 0
    with pytest.raises(DataError, match="has no scores by extractive; run: gistmeter score extractive -i"):
        read_judged(tmp_path, table, ["extractive"])
    with pytest.raises(DataError, match="has scores of other rows"):
        read_judged(tmp_path, table, ["novelty"])
    with pytest.raises(UsageError, match="sets: add 'scores' to each set"):
        read_judged(tmp_path, {"name": "x", "rows": "rows.jsonl"}, ["novelty"])
