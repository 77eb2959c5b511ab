"""Test rows from memory: every kind of table gives the same rows as a list of dicts."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from gistmeter.core.errors import DataError, MissingField, UsageError
from gistmeter.core.example import Example
from gistmeter.core.row import Row
from gistmeter.io.frames import as_list, table_from

RECORDS: list[dict[str, Any]] = [
    {
        "id": 1,
        "candidate": "Rain fell.",
        "source": "Rain fell all day.",
        "references": ["It rained.", "Rain."],
        "system": "a",
        "doc_id": "d1",
        "scores.fluency": 4.5,
    },
    {
        "id": 2,
        "candidate": None,
        "source": None,
        "references": None,
        "system": None,
        "doc_id": "d1",
        "scores.fluency": None,
    },
    {
        "id": 3,
        "candidate": "Snow fell.",
        "source": "",
        "references": [],
        "system": "b",
        "doc_id": None,
        "scores.fluency": 2.0,
    },
]
ROWS = [
    Row(
        Example("1", "Rain fell.", "Rain fell all day.", ("It rained.", "Rain."), "a", "d1"),
        {"fluency": 4.5},
    ),
    Row(Example("2", "", None, (), None, "d1"), problem="no candidate: 'candidate' is missing or null"),
    Row(Example("3", "Snow fell.", "", (), "b", None), {"fluency": 2.0}),
]


def columns(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [record[name] for record in records] for name in records[0]}


def pandas_frame(records: list[dict[str, Any]]) -> object:
    return pytest.importorskip("pandas").DataFrame(records)


def pandas_nullable(records: list[dict[str, Any]]) -> object:
    return pytest.importorskip("pandas").DataFrame(records).convert_dtypes()


def polars_frame(records: list[dict[str, Any]]) -> object:
    return pytest.importorskip("polars").DataFrame(records)


def polars_lazy(records: list[dict[str, Any]]) -> object:
    return pytest.importorskip("polars").LazyFrame(records)


def pyarrow_table(records: list[dict[str, Any]]) -> object:
    return pytest.importorskip("pyarrow").Table.from_pylist(records)


def data_set(records: list[dict[str, Any]]) -> object:
    return pytest.importorskip("datasets").Dataset.from_list(records)


def streamed_data_set(records: list[dict[str, Any]]) -> object:
    return pytest.importorskip("datasets").Dataset.from_list(records).to_iterable_dataset()


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        iter,
        lambda records: (record for record in records),
        columns,
        pandas_frame,
        pandas_nullable,
        polars_frame,
        polars_lazy,
        pyarrow_table,
        data_set,
        streamed_data_set,
    ],
)
def test_every_table_gives_the_same_rows(make: Callable[[list[dict[str, Any]]], object]) -> None:
    table = table_from(make(RECORDS))
    assert list(table.rows) == ROWS
    assert table.columns == tuple(RECORDS[0])


def test_a_data_frame_read_from_parquet_holds_arrays_of_references() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"candidate": ["A."], "references": [np.array(["B.", None], dtype=object)]})
    assert table_from(frame).rows[0].example.references == ("B.", "")


@pytest.mark.parametrize("value", [None, math.nan, np.float32("nan"), "NA", "NaT"])
def test_what_pandas_writes_for_missing_is_missing(value: object) -> None:
    if isinstance(value, str):
        value = getattr(pytest.importorskip("pandas"), value)
    (row,) = table_from([{"candidate": "A.", "source": value, "references": [value, "B."]}]).rows
    assert (row.example.source, row.example.references) == (None, ("", "B."))
    (row,) = table_from([{"candidate": value, "source": "S."}]).rows
    assert row.problem is not None
    example = Example("1", value, value, value, value, value)  # type: ignore[arg-type]
    assert example == Example("1", "")


def test_columns_of_other_names_and_of_human_scores() -> None:
    fields = {"candidate": "summary", "scores.fluency": "flow"}
    table = table_from([{"summary": "A.", "flow": 3, "scores": {"focus": 1}}], fields=fields)
    assert table.rows[0] == Row(Example("1", "A."), {"focus": 1.0, "fluency": 3.0})
    table.check("length", ())
    with pytest.raises(MissingField, match="novelty needs source: no column 'source'; there are: 'summary'"):
        table.check("novelty", ("source",))


def test_examples_have_no_columns_to_check() -> None:
    table = table_from([Example("x", "A."), {"candidate": "B."}])
    assert [row.example.id for row in table.rows] == ["x", "2"]
    table.check("rouge", ("references",))


def test_an_empty_frame_has_no_rows_and_no_problem() -> None:
    pandas = pytest.importorskip("pandas")
    table = table_from(pandas.DataFrame({"text": []}))
    assert list(table.rows) == []
    table.check("rouge", ("references",))


def test_a_dict_of_data_sets_says_which_columns_it_has() -> None:
    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict(train=datasets.Dataset.from_list(RECORDS))
    with pytest.raises(MissingField, match="no column 'candidate'; there are: 'train'"):
        table_from(splits).check("rouge", ("references",))


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        ("rows", UsageError, "not str"),
        (None, UsageError, "not NoneType"),
        ({"candidate": "A."}, UsageError, "candidate must be a list with one entry per row, not str"),
        ({"candidate": ["A."], "source": ["B.", "C."]}, DataError, "candidate 1, source 2"),
    ],
)
def test_what_is_no_table_is_refused(data: object, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        table_from(data)


def made(library: str, function: str) -> Callable[[], object]:
    return lambda: getattr(pytest.importorskip(library), function)([1, 2])


COLUMNS: Mapping[str, Callable[[], object]] = {
    "list": lambda: [1, 2],
    "generator": lambda: (number for number in (1, 2)),
    "numpy": lambda: np.array([1, 2]),
    "pandas": made("pandas", "Series"),
    "polars": made("polars", "Series"),
    "pyarrow": made("pyarrow", "array"),
    "pyarrow chunks": lambda: pytest.importorskip("pyarrow").chunked_array([[1], [2]]),
    "datasets": lambda: pytest.importorskip("datasets").Dataset.from_dict({"x": [1, 2]})["x"],
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_may_be_of_any_library(kind: str) -> None:
    values = as_list("ids", COLUMNS[kind]())
    assert values == [1, 2]
    assert [type(value) for value in values] == [int, int]
