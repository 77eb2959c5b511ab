"""Test the declarations of data sets: complete, found by name and by file name."""

import math
import re
from pathlib import Path

import pytest

from gistmeter.bench.datasets.dataset import Dataset, Dimension, check_not_pooled, datasets, find, for_file
from gistmeter.bench.datasets.loaders import LOADERS
from gistmeter.bench.datasets.remarks import remarks
from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.core.levels import LEVELS
from gistmeter.core.row import Row

NAMES = {
    "summeval", "qags_cnndm", "qags_xsum", "frank_cnndm", "frank_xsum", "xsumfaith", "realsumm", "newsroom",
    "dialsummeval", "summeval_op", "asset", "simplicity_da", "simpeval_past", "simpeval_2022", "muss_en",
    "muss_fr", "muss_es", "chaganty_lq", "duc05", "duc06", "duc07", "gofigure",
    *(f"multi_summeval_{language}" for language in ("de", "en", "es", "fr", "id", "ru", "tr", "zh")),
}  # fmt: skip


def test_every_task_is_declared_once() -> None:
    assert {task.name for task in datasets()} == NAMES
    assert len(datasets()) == len(NAMES)
    prefixes = [name for task in datasets() for name in task.files]
    assert len(set(prefixes)) == len(prefixes)
    assert not {task.group for task in datasets() if task.group} & set(prefixes)


@pytest.mark.parametrize("task", datasets(), ids=lambda task: task.name)
def test_a_declaration_is_whole(task: Dataset) -> None:
    assert task.title and task.licence and task.citation and task.dimensions
    assert "pooled" in task.levels and set(task.levels) <= set(LEVELS)
    assert all(dimension.low < dimension.high for dimension in task.dimensions)
    assert bool(task.sources) == bool(task.loader) != bool(task.obtain)
    assert not task.loader or task.loader in LOADERS
    assert not task.superseded_by or task.superseded_by in NAMES - {task.name}
    for source in task.sources:
        assert source.address.startswith("https://")
        assert source.revision in source.address
        assert source.sha256 is None or re.fullmatch("[0-9a-f]{64}", source.sha256)
        assert source.address.endswith(source.file.partition("/")[2])
        assert source.revision or source.sha256 is None  # a digest is of one revision


def test_a_file_is_found_by_its_name() -> None:
    assert for_file("rows/summeval.dev.jsonl.gz") is find("summeval")
    assert for_file(Path("frank_cnndm.valid.csv")) is find("frank_cnndm")
    assert for_file("newsroom_human.jsonl") is find("newsroom")
    mine = for_file("x/summeval_mine.v2.jsonl")
    assert (mine.name, mine.dimensions, mine.levels) == ("summeval_mine.v2", (), LEVELS)
    assert mine.dimension("anything") == Dimension("anything", -math.inf, math.inf, 1)


def test_the_halves_of_frank_are_never_pooled() -> None:
    with pytest.raises(UsageError, match=r"frank_cnndm and frank_xsum are never pooled.*\.56"):
        find("frank")
    with pytest.raises(UsageError, match="frank_cnndm and frank_xsum are never pooled"):
        for_file("frank.jsonl.gz")
    with pytest.raises(UsageError, match="never pooled"):
        check_not_pooled([find("frank_xsum"), find("frank_cnndm")])
    with pytest.raises(UsageError, match="summeval and mine are never pooled"):
        check_not_pooled([find("summeval"), for_file("mine.csv")])
    check_not_pooled([find("frank_xsum"), find("frank_xsum")])


def test_a_name_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"no data set 'sumeval'; choose from: .*summeval"):
        find("sumeval")
    with pytest.raises(UsageError, match="no variant 'copied'; choose from: development, 1-reference"):
        find("summeval").variant("copied")


def test_variants_of_summeval_are_filters_of_rows() -> None:
    task = find("summeval")
    rows = [
        _row(system, references=["One.", "Two.", "Three."]) for system in ("M0", "M5", "M8", "M23", "M99")
    ]
    assert [row.example.system for row in task.variant("extractive").select(rows)] == ["M0", "M5"]
    assert [row.example.system for row in task.variant("abstractive").select(rows)] == ["M8", "M23"]
    one = task.variant("1-reference").select(rows)
    assert [row.example.references for row in one] == [("One.",)] * 5
    assert task.variant("11-references").select(rows) == rows
    systems = [system for variant in task.variants for system in variant.systems]
    assert len(systems) == len(set(systems)) == 16


def test_what_is_odd_about_rows_is_said() -> None:
    task = Dataset("t", "T", ("t",), (Dimension("a", 1, 5), Dimension("b", 0, 1, -1), Dimension("c")))
    rows = [_row(scores={"a": 4.0, "b": 0.5}), _row(scores={"a": 7.0}), _row(id="2", scores={"a": 5.0000001})]
    assert list(remarks(task, rows)) == [
        "1 ids occur in more than one row, and each row counts; the first: 1",
        "1 scores for a are outside its scale, 1 to 5; first: 7",
        "2 of 3 rows have no score for b",
        "lower b is better, so a good metric correlates negatively with it",
    ]
    old = Dataset("old", "Old", ("old",), (Dimension("a"),), superseded_by="t")
    assert list(remarks(old, rows[2:])) == ["superseded; use t instead"]


@pytest.mark.shared
def test_scores_of_the_development_data_lie_on_their_scales(shared_data: Path) -> None:
    from gistmeter.io.rows import read_rows

    known = [path for path in (shared_data / "benchmarks").iterdir() if for_file(path) in datasets()]
    assert len(known) >= 8
    for path in known:
        rows = [row for row in read_rows(path) if row.scores]
        said = [text for text in remarks(for_file(path), rows) if "outside" in text or "ids occur" in text]
        assert not said, path


def _row(
    system: str | None = None,
    *,
    id: str = "1",
    references: list[str] | None = None,
    scores: dict[str, float] | None = None,
) -> Row:
    return Row(Example(id, "A text.", references=references or [], system=system), scores or {})
