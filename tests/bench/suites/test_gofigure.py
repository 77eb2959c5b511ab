"""Test the suite of GO FIGURE: its own texts beside injected errors, and ClozE's corrections."""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from gistmeter.bench.suites import gofigure
from gistmeter.bench.suites.context import BenchmarkContext
from gistmeter.bench.suites.gofigure_texts import SETS
from gistmeter.bench.suites.tables import Line, Result
from gistmeter.core.example import Example
from gistmeter.core.language import ANY
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score, Span
from gistmeter.core.signature import Signature
from gistmeter.io.cache import ScoreCache
from gistmeter.io.rows import read_rows
from gistmeter.text.factors import Pipeline
from tests.tiny_spacy import tiny_pipeline

GOLD = (
    "Anna Berg sold the red boat in Oslo. On Monday she sold the old school in Bergen. The mayor thanked her."
)
OTHER = "The mayor of Oslo opened two new schools on Monday. Karl Lund thanked Anna Berg in Bergen."


def record(number: int) -> dict[str, object]:
    gold = (GOLD, OTHER)[number % 2]
    texts = {
        f"{kind}_{level}": gold + " no" * (level + number % 2)
        for kind in ("entity", "verb")
        for level in range(3)
    }
    return {
        "id": str(number),
        "dataset": ("cnndm", "xsum")[number // 2 % 2],
        "source": gold,
        "reference": gold,
        "random_summary": "Rain.",
        "transformed": texts,
    }


@dataclass(frozen=True)
class Corrector:
    """A metric that falls with the number of words `no`, and knows the original of every word."""

    spec: str
    needs = ()
    languages = ANY

    @property
    def name(self) -> str:
        return self.spec.partition(":")[0]

    @property
    def signature(self) -> Signature:
        return Signature.of(self.name, version=1, spec=self.spec)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        return [self._one(example) for example in examples]

    def _one(self, example: Example) -> Score:
        text, source = example.candidate, example.source or ""
        value = 1 - 0.1 * text.count(" no") if text != "Rain." else 0.0
        span = Span("candidate", 0, len(text), 0.1, note=f"→ {source} (confidence .90)")
        return Score(example.id, value, {}, (span,))


def build(spec: str, model: str | None) -> Metric:
    return Corrector(spec)


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    path = tmp_path / "gofigure_auto.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record(number)) + "\n" for number in range(8))
    rows: Mapping[str, Sequence[Row]] = {
        data.key: list(read_rows(path, fields=data.fields)) for data in SETS.values()
    }
    monkeypatch.setattr(
        "gistmeter.text.factors.load_pipeline", lambda name: Pipeline(tiny_pipeline(), "tiny")
    )
    return gofigure.run(BenchmarkContext(rows, {}, build, ScoreCache(tmp_path / "cache"), only=["cloze"]))


def lines_of(result: Result, title: str) -> dict[str, Line]:
    [table] = [table for table in result.tables if table.title == title]
    return {line.dimension: line for line in table.lines}


def test_its_own_texts_stand_beside_injected_errors(result: Result) -> None:
    own = lines_of(result, "CNN/DM, GO FIGURE's texts (ClozE, table 3)")
    assert [own[f"entity errors: level {level}"].ours for level in (1, 2, 3)] == pytest.approx(
        [0.95, 0.85, 0.75]
    )
    assert own["other errors: upper bound"].ours == 1.0
    assert own["other errors: lower bound"].ours == 0.0
    assert own["entity errors: correlation"].ours == pytest.approx(-1.0)
    assert own["entity errors: noticed"].ours == 1.0, "only texts with an error count"
    assert own["entity errors: level 3"].paper == 0.5716
    made = lines_of(result, "CNN/DM, errors injected by gistmeter")
    assert made["entity errors: upper bound"].n > 0 and made["entity errors: upper bound"].paper is None
    assert {figure.name for figure in result.figures} == {"cnndm", "xsum", "own-cnndm", "own-xsum"}


def test_replaced_and_deleted_phrases_have_shares_of_their_own(result: Result) -> None:
    made = lines_of(result, "CNN/DM, errors injected by gistmeter")
    parts = [
        line
        for operation in ("replaced", "deleted")
        if (line := made.get(f"entity errors: noticed, {operation}"))
    ]
    every = made["entity errors: noticed"]
    assert len(parts) == 2 and sum(part.n or 0 for part in parts) == every.n
    noticed = sum((part.ours or 0) * (part.n or 0) for part in parts)
    assert noticed == pytest.approx((every.ours or 0) * (every.n or 0))
    own = lines_of(result, "CNN/DM, GO FIGURE's texts (ClozE, table 3)")
    assert "entity errors: noticed, deleted" not in own, "it is not known which errors delete"


def test_table_5_counts_corrected_errors(result: Result) -> None:
    found = lines_of(result, "CNN/DM, corrected errors (ClozE, table 5)")
    assert found["entity errors: within a factor"].ours == 1.0
    assert found["entity errors: corrected"].ours == 1.0
    assert found["entity errors: corrected"].n > 0
    assert found["entity errors: suggested"].ours == 1.0
    assert any("share of errors within a factor (entity error): ClozE-R 1.00" in said for said in result.says)


def test_columns_within_an_object_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"made": {"low": "A cat."}}\n{"made": "no object"}\n{"made.low": "A dog.", "made": {}}\n'
    )
    rows = list(read_rows(path, fields={"candidate": "made.low"}))
    assert [row.example.candidate for row in rows] == ["A cat.", "", "A dog."]
    assert [row.problem is None for row in rows] == [True, False, True]
