"""Test columns with common other names: found in every format, noted, and refused where ambiguous."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path

import pytest

import gistmeter as gm
from gistmeter.app.cli import main
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.io.aliases import ALIASES, with_aliases
from gistmeter.io.frames import table_from
from gistmeter.io.rows import read_rows

RECORD = {"summary": "Rain fell.", "article": "Rain fell all day.", "target": "It rained."}
EXAMPLE = Example("1", "Rain fell.", "Rain fell all day.", ("It rained.",))


def write(folder: Path, name: str, *records: Mapping[str, object]) -> Path:
    path = folder / name
    if name.endswith(".parquet"):
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(list(records)), path)
        return path
    if name.endswith(".jsonl"):
        lines = [json.dumps(record) for record in records]
    else:
        mark = "," if name.endswith(".csv") else "\t"
        lines = [mark.join(map(str, cells)) for cells in (records[0], *(r.values() for r in records))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.tsv", "rows.parquet"])
def test_common_names_are_found_in_every_format_and_noted_once(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, name, RECORD, RECORD)
    with caplog.at_level(logging.WARNING, "gistmeter"):
        first, second = read_rows(path)
    assert (first.example, first.problem, second.problem) == (EXAMPLE, None, None)
    assert caplog.messages == [
        "gistmeter: reading candidate from the column 'summary'",
        "gistmeter: reading source from the column 'article'",
        "gistmeter: reading references from the column 'target'",
    ]


@pytest.mark.parametrize(("field", "column"), [(f, name) for f, names in ALIASES.items() for name in names])
def test_each_common_name_is_known(field: str, column: str) -> None:
    assert with_aliases({column: "A text."}, {})[field] == column


def test_python_reads_the_same_columns_as_the_shell(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "rows.jsonl", RECORD)
    assert main(["score", "rouge", "-i", str(path), "-o", "-"]) == 0
    printed = capsys.readouterr()
    with caplog.at_level(logging.WARNING, "gistmeter"):
        report = gm.score("rouge", [RECORD], progress=False)
    assert json.loads(printed.out)["value"] == report.scores[0].value
    assert caplog.messages and all(message in printed.err for message in caplog.messages)
    assert table_from([RECORD]).rows == list(read_rows(path))


def test_a_file_that_is_read_twice_is_noted_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "rows.jsonl", RECORD, RECORD)
    assert main(["score", "novelty", "-i", str(path), "--shard", "1/2"]) == 0
    assert capsys.readouterr().err.count("from the column 'summary'") == 1


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_two_common_names_of_one_field_are_an_error(tmp_path: Path, name: str) -> None:
    both = {**RECORD, "output": "Snow fell."}
    path = write(tmp_path, name, both)
    said = "columns 'summary' and 'output' can be the field candidate; choose one: --fields candidate=summary"
    with pytest.raises(DataError, match=said):
        list(read_rows(path))
    with pytest.raises(DataError, match="can be the field candidate"):
        table_from([both])
    (row,) = read_rows(path, fields={"candidate": "output"})
    assert row.example.candidate == "Snow fell."


def test_an_ambiguous_row_among_others_has_a_problem(tmp_path: Path) -> None:
    records = [RECORD, {**RECORD, "output": "Snow fell."}, RECORD]
    for rows in (list(read_rows(write(tmp_path, "rows.jsonl", *records))), table_from(records).rows):
        problems = [row.problem for row in rows]
        assert problems[0] is problems[2] is None
        assert problems[1] is not None and "can be the field candidate" in problems[1]


def test_the_names_of_fields_come_first_and_labels_that_are_no_texts_are_left_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    record = {"candidate": "A.", "summary": "B.", "source": "S.", "label": 1, "input": {"a": 1}}
    (row,) = table_from([record]).rows
    assert (row.example, row.problem) == (Example("1", "A.", "S."), None)
    assert not caplog.messages


def test_a_misspelled_column_names_the_nearest(tmp_path: Path) -> None:
    path = write(tmp_path, "rows.csv", {"candidat": "A.", "source": "S."})
    with pytest.raises(DataError, match=r"no column 'candidate' \(did you mean 'candidat'\?\)"):
        list(read_rows(path))
