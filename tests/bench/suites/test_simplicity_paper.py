"""Tables 2 to 4 and figures 2 and 3 of the simplicity paper, on made-up scores."""

from pathlib import Path

import pytest

from gistmeter.bench.suites.context import BenchmarkContext
from gistmeter.bench.suites.registry import SUITES
from gistmeter.bench.suites.simplicity_paper import PANELS, Encoders, encoders
from gistmeter.bench.suites.tables import Line
from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.io.cache import ScoreCache
from gistmeter.models.encode.tuned import KIND, TunedEncoder
from gistmeter.models.files.adapters import save_tuned
from tests.bench.suites.test_suites import Made, rows_of

PARTS = ("precision", "recall", "f1")


class Parts(Made):
    """A metric whose components rise and fall with the meaning of the made-up rows."""

    def _one(self, example: Example) -> Score:
        number = float(example.id.replace("-", ""))
        rising = {"precision": -number, "recall": number, "f1": number % 7}
        parts = rising | {f"rel_{name}": -value for name, value in rising.items()}
        return Score(example.id, number, parts)


def context(
    tmp_path: Path, built: list[tuple[str, str | None]], model: str | None = None
) -> BenchmarkContext:
    def build(spec: str, model: str | None) -> Metric:
        built.append((spec, model))
        return Parts(f"{spec}@{model}")

    rows = [
        Row(row.example, {name: float(row.example.id.replace("-", "")) for name in ("meaning", "simplicity")})
        for row in rows_of("asset")
    ]
    data = {"asset": rows, "asset, TurkCorpus references": rows}
    return BenchmarkContext(data, {}, build, ScoreCache(tmp_path), models=(model,) if model else ())


def lines_of(bench: BenchmarkContext, table: int) -> dict[tuple[str, str], Line]:
    result = SUITES["simplification"].run(bench)
    [found] = [
        one for one in result.tables if f"table {table})" in one.title and "simplicity paper" in one.title
    ]
    return {(line.label, line.dimension): line for line in found.lines}


def test_proposed_and_without_fine_tuning_are_different_encoders(tmp_path: Path) -> None:
    built: list[tuple[str, str | None]] = []
    lines = lines_of(context(tmp_path, built), 4)
    with_, without = lines["proposed", "meaning"], lines["without fine-tuning", "meaning"]
    assert ("simplicity:value=rel_f1,weight=frequency,unit=subword,layer=4", "gistmeter/simple") in built
    assert ("simplicity:value=rel_f1,weight=frequency,unit=subword,layer=4", "minilm") in built
    assert with_.signature != without.signature
    assert {label for label, _ in lines} == {
        "proposed",
        "without weighting",
        "without input",
        "without fine-tuning",
    }


@pytest.mark.parametrize(
    ("label", "table", "part"),
    [("proposed", 4, "rel_precision"), ("without input", 4, "recall"), ("BERTScore", 3, "recall")],
)
def test_the_best_of_precision_recall_and_f1_counts(
    tmp_path: Path, label: str, table: int, part: str
) -> None:
    line = lines_of(context(tmp_path, []), table)[label, "meaning"]
    assert line.ours == pytest.approx(1.0)
    assert line.metric.endswith(f"({part})")
    assert "best of precision, recall and F1" in line.note


def test_figures_2_and_3_are_drawn(tmp_path: Path) -> None:
    result = SUITES["simplification"].run(context(tmp_path, []))
    for number, (dimension, labels) in enumerate(PANELS.items(), 2):
        [figure] = [one for one in result.figures if one.name == f"figure-{number}-{dimension}"]
        assert [series.label.partition(" (")[0] for series in figure.series] == list(labels)
        for series in figure.series:
            assert len(series.x) == len(series.y) == 20
            assert (min(y for y in series.y if y is not None), max(y for y in series.y if y is not None)) == (
                0,
                100,
            )


def test_a_tuned_model_on_the_command_line_is_compared_with_its_own_base(
    tmp_path: Path, tiny_bert: Path
) -> None:
    from transformers import BertModel

    tuned = TunedEncoder(BertModel.from_pretrained(tiny_bert), layer=2, layers=1)
    save_tuned(tuned, str(tiny_bert), tmp_path / "mine", kind=KIND, facts={"layer": 2, "layers": 1})
    found = encoders(str(tmp_path / "mine"))
    assert (found.tuned, found.layer) == (str(tmp_path / "mine"), 2)
    assert found.base is not None and Path(found.base).samefile(tiny_bert)
    assert encoders(str(tiny_bert)) == Encoders(), "not fine-tuned"
    assert encoders(None) == Encoders("gistmeter/simple", "minilm", 4)
    assert encoders(str(tmp_path / "nothing")) == Encoders()
    built: list[tuple[str, str | None]] = []
    lines = lines_of(context(tmp_path, built, str(tiny_bert)), 4)
    assert ("simplicity:value=rel_f1,weight=frequency,unit=subword", None) in built
    assert "this encoder is not fine-tuned" in lines["proposed", "meaning"].note
