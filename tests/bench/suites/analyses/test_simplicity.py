"""Test the paper's ablations and scatter plots on hand-made scores."""

import math

import pytest

from gistmeter.bench.suites.analyses.simplicity import TABLE_4, Cell, ablations, scatter
from gistmeter.core.score import Score
from gistmeter.metrics.simplicity.options import SimplicityOptions
from gistmeter.metrics.simplicity.presets import PRESETS

HUMAN = [1.0, 2.0, 4.0]


def scores(prefix: str, **columns: list[float]) -> list[Score]:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [
        Score(str(at), 0.0, {f"{prefix}{name}": value for name, value in row.items()})
        for at, row in enumerate(rows)
    ]


def test_the_best_part_is_shown() -> None:
    rising, falling, flat = [0.1, 0.2, 0.4], [0.4, 0.2, 0.1], [0.5, 0.5, 0.5]
    runs = {
        "proposed": scores("rel_", precision=falling, recall=rising, f1=flat),
        "without input": scores("", precision=flat, recall=flat, f1=flat),
    }
    found = ablations(runs, {"simplicity": HUMAN, "meaning": HUMAN[::-1]})
    assert found["proposed"]["simplicity"] == Cell("rel_recall", 1.0, 3)
    assert found["proposed"]["meaning"] == Cell("rel_precision", 1.0, 3)
    assert math.isnan(found["without input"]["simplicity"].pearson)


def test_undefined_scores_are_left_out() -> None:
    runs = {"without input": scores("", precision=[0.1, math.nan, 0.4], recall=[0.0] * 3, f1=[0.0] * 3)}
    cell = ablations(runs, {"simplicity": HUMAN})["without input"]["simplicity"]
    assert cell == Cell("precision", 1.0, 2)


def test_scatter_is_from_0_to_100() -> None:
    own = [Score(str(at), value, {"f1": value}) for at, value in enumerate([0.25, 0.0, 0.75, 0.5])]
    own[1] = Score.undefined("1", "no references")
    plot = scatter(own, [3.0, 9.0, 5.0, 4.0])
    assert plot.metric == pytest.approx((0.0, 100.0, 50.0))
    assert plot.human == (3.0, 5.0, 4.0)
    assert plot.pearson == pytest.approx(1.0)
    assert math.isnan(scatter(own[:1], [1.0]).pearson)
    assert scatter([], []).metric == ()
    assert scatter(own, [1.0] * 4, "rel_f1").metric == (), "a part that they do not have"


def test_table_4_can_be_built() -> None:
    for row in TABLE_4.values():
        assert row.preset in PRESETS
        SimplicityOptions(**dict(row.options))  # type: ignore[arg-type]
    assert PRESETS["tuned"].layer == TABLE_4["without fine-tuning"].options["layer"], (
        "ablations share the layer"
    )
