"""Rows with human ratings: scales and folds."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gistmeter.core.errors import DataError, UsageError
from gistmeter.metrics.sumqe.training.folds import fold_figures, folds_of
from gistmeter.metrics.sumqe.training.rows import Rated, read_set

NAN = math.nan
ROWS = {"name": "mine", "file": "rows.jsonl", "low": -1, "high": 1, "scores": {"grammar": "grammaticality"}}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_file(folder: Path) -> Path:
    return write(folder / "rows.jsonl", [{"candidate": "A.", "scores": {"grammar": 1, "other": None}}])


def test_labels_of_several_scales(tmp_path: Path) -> None:
    row = {"candidate": "A.", "scores": {"a": 4, "b": 0.5, "c": NAN, "d": True, "e": "5"}, "doc_id": 7}
    write(
        tmp_path / "a.jsonl",
        [row, {"candidate": " ", "scores": {"a": 1}}, {"candidate": "B.", "scores": None}],
    )
    names = {
        "a": "focus",
        "b": "coherence",
        "c": "grammaticality",
        "d": "non_redundancy",
        "e": "grammaticality",
    }
    [found] = read_set(tmp_path, {"name": "x", "file": "a.jsonl", "low": 0, "high": 5, "scores": names})
    assert found == Rated("A.", {"focus": 0.8, "coherence": 0.1}, "x", "7")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"file": "rows.jsonl", "scores": {"grammar": "focus"}}, "give each set a name"),
        ({"name": "a", "scores": {"grammar": "focus"}}, "give each set a name"),
        ({"name": "a", "file": "rows.jsonl", "duc": "b"}, "give each set a name"),
        ({"name": "a", "file": "rows.jsonl", "low": 5}, "high above low"),
        ({"name": "a", "file": "rows.jsonl", "limit": -1}, "no negative limit"),
        ({"name": "a", "file": "rows.jsonl"}, "scores must map names"),
        (
            {"name": "a", "file": "rows.jsonl", "scores": {"grammar": "fluency"}},
            "scores must map names",
        ),
        ({"name": "a", "file": "rows.jsonl", "weight": 3}, "no option 'weight'"),
    ],
)
def test_a_set_that_is_not_described_as_it_should_be(
    tmp_path: Path, given: dict[str, Any], says: str
) -> None:
    rows_file(tmp_path)
    with pytest.raises(UsageError, match=says):
        read_set(tmp_path, given)


def test_a_set_without_a_score_is_no_set(tmp_path: Path) -> None:
    rows_file(tmp_path)
    with pytest.raises(DataError, match="no row has a number"):
        read_set(tmp_path, {**ROWS, "scores": {"other": "focus"}})
    write(tmp_path / "rows.jsonl", [{"scores": {"grammar": 1}}])
    with pytest.raises(DataError, match="row 1: candidate must be a text"):
        read_set(tmp_path, ROWS)
    write(tmp_path / "rows.jsonl", [{"dataset": "a"}, {"dataset": "b", "scores": {"grammar": 1}}])
    with pytest.raises(DataError, match="row 2: candidate must be a text"):
        read_set(tmp_path, {**ROWS, "where": {"dataset": ["b"]}})


def test_some_rows_of_a_file_with_a_column_for_each_score(tmp_path: Path) -> None:
    rows = [{"id": str(at), "text": f"{at}.", "label": at % 2, "dataset": "ab"[at % 2]} for at in range(40)]
    write(tmp_path / "a.jsonl", rows)
    some = {"name": "x", "file": "a.jsonl", "low": 0, "high": 1, "scores": {"label": "grammaticality"}}
    assert len(read_set(tmp_path, some)) == 40
    found = read_set(tmp_path, {**some, "where": {"dataset": ["b"]}, "limit": 5})
    assert [row.labels for row in found] == [{"grammaticality": 1.0}] * 5
    assert len({row.text for row in found}) == 5
    assert found == read_set(tmp_path, {**some, "where": {"dataset": ["b"]}, "limit": 5})
    assert len(read_set(tmp_path, {**some, "limit": 41})) == 40


def test_a_sentence_of_a_held_out_text_is_not_learned_from() -> None:
    rows = [Rated("One. Two!", {"focus": 1.0}, "a", "d1"), Rated("two", {"focus": 1.0}, "b", "d2")]
    rows += [Rated("Three.", {"focus": 1.0}, "b", "d3")]
    first, second = folds_of(rows, "sets", 1)
    assert [row.document for row in first.rest] == ["d3"]
    assert [row.document for row in second.rest] == ["d1"]
    with pytest.raises(DataError, match="has 0 rows"):
        folds_of(rows[:2], "sets", 1)


def test_systems_can_be_left_out_instead_of_documents() -> None:
    rows = [
        Rated(f"{name} {system} {at}.", {"focus": 1.0}, name, f"d{at}", system)
        for name, systems in (("a", "uvwx"), ("b", "yz"))
        for system in systems
        for at in range(3)
    ]
    folds = folds_of(rows, "3 systems", 1)
    assert sorted(row.text for fold in folds for row in fold.held) == sorted(row.text for row in rows)
    for fold in folds:
        held = {(row.set, row.system) for row in fold.held}
        assert len(held) == 2 and held.isdisjoint({(row.set, row.system) for row in fold.rest})
        assert {row.document for row in fold.rest} == {"d0", "d1", "d2"}


def test_fold_figures_by_hand() -> None:
    said, people = [1.0, 2.0, 3.0, 5.0], [1.0, 2.0, 2.0, 4.0]
    lines = [
        {"set": "a", "system": system, "said": {"focus": x}, "people": {"focus": y}}
        for x, y, system in zip(said, people, "uvwv", strict=True)
    ]
    figures = fold_figures(lines)
    assert figures["a_focus_rows"] == pytest.approx(np.corrcoef(said, people)[0, 1])
    assert figures["a_focus_systems"] == pytest.approx(np.corrcoef([1, 3.5, 3], [1, 3, 2])[0, 1])
