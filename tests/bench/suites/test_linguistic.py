"""SUM-QE's tables and figure 3 on made-up rows of DUC."""

from dataclasses import replace
from pathlib import Path

import pytest

from gistmeter.bench.suites.context import NO_SUCH_METRIC
from gistmeter.bench.suites.linguistic import QUALITIES, TABLE1, TABLE2, YEARS
from gistmeter.bench.suites.registry import SUITES
from gistmeter.bench.suites.tables import Result
from gistmeter.core.row import Row
from tests.bench.suites.test_suites import SYSTEMS, bench, rows_of


def made(tmp_path: Path) -> Result:
    """Return the results on DUC rows, in which each system has the same score from 1 to 5 everywhere."""
    context = bench(tmp_path, list(YEARS))
    rows = [
        Row(row.example, dict.fromkeys(QUALITIES, 1.0 + SYSTEMS.index(row.example.system or "")))
        for row in rows_of("duc05")
    ]
    return SUITES["linguistic"].run(replace(context, rows=dict.fromkeys(YEARS, rows)))


def test_figure_3_is_on_the_scale_of_the_scores(tmp_path: Path) -> None:
    figures = [figure for figure in made(tmp_path).figures if figure.name.startswith("duc-05")]
    assert [figure.name for figure in figures] == ["duc-05-q2", "duc-05-q3"]
    for figure in figures:
        assert figure.y == "mean score, 1 to 5"
        people = next(series for series in figure.series if series.label == "people")
        assert people.y == (5.0, 4.0, 3.0, 2.0, 1.0), "raw means, best system first"


def test_table_2_is_the_mean_over_systems(tmp_path: Path) -> None:
    tables = [table for table in made(tmp_path).tables if "table 2" in table.title]
    assert len(tables) == len(YEARS)
    lines = {line.dimension: line for line in tables[0].lines}
    assert len(lines) == 2 * len(TABLE2)
    assert lines["Q1: mean"].ours == pytest.approx(3.0)
    assert lines["Q1: standard deviation"].ours == pytest.approx(2**0.5)
    assert (lines["Q1: mean"].paper, lines["Q5: standard deviation"].paper) == (3.77, 0.46)
    assert (lines["Q1: mean"].n, lines["Q1: mean"].level) == (len(SYSTEMS), "system")


def test_a_method_that_a_recipe_measures_is_not_called_missing(tmp_path: Path) -> None:
    [table] = [table for table in made(tmp_path).tables if table.title.startswith("DUC-05 (")]
    notes = {line.label: line.note for line in table.lines}
    assert set(notes) == set(TABLE1)
    assert not any(NO_SUCH_METRIC in note for note in notes.values())
    for label in ("GPT-2", "BERT-FR-LM", "BERT-FR-NS", "BiGRU-ATT-M-5", "BERT-FT-S-1", "BERT-FT-M-1"):
        assert "recipes/sumqe-table1.toml" in notes[label]
