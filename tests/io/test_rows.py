"""Test reading rows: every format, invalid lines, and truncated files."""

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import tracemalloc
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gistmeter.core.errors import DataError, MissingExtra, UsageError
from gistmeter.core.example import Example
from gistmeter.core.row import Row
from gistmeter.io import formats
from gistmeter.io.rows import parse_fields, read_rows

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
labels = st.none() | texts.filter(bool)
scores = st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False, width=32), max_size=2)
rows_of_any_text = st.lists(
    st.builds(
        Row,
        st.builds(
            Example,
            texts.filter(bool),
            texts,
            labels,
            st.lists(texts, max_size=3).map(tuple),
            labels,
            labels,
        ),
        scores,
    ),
    min_size=1,
    max_size=4,
)


def as_record(row: Row) -> dict[str, object]:
    example = row.example
    return {
        "id": example.id,
        "candidate": example.candidate,
        "source": example.source,
        "references": list(example.references),
        "system": example.system,
        "doc_id": example.doc_id,
        "scores": dict(row.scores),
    }


def write_jsonl(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_tabs(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    rows: list[list[object]] = [list(records[0]), *(list(record.values()) for record in records)]
    cells = [[json.dumps(v) if isinstance(v, list | dict) else v or "" for v in row] for row in rows]
    data = "".join("\t".join(map(str, row)) + "\n" for row in cells).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_cells(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(records[0])
    for record in records:
        cells = [
            json.dumps(v) if isinstance(v, list | dict) else "" if v is None else v for v in record.values()
        ]
        writer.writerow(cells)
    data = buffer.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_parquet(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [name for name in records[0] if name != "scores"]
    columns = {name: [record[name] for record in records] for name in names}
    columns["scores"] = [json.dumps(record["scores"]) for record in records]
    types = {name: pa.list_(pa.string()) if name == "references" else pa.string() for name in columns}
    pq.write_table(pa.table(columns, schema=pa.schema(types.items())), path)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.csv.gz", "A.JSONL", "a.parquet"])
@settings(max_examples=40, deadline=None)
@given(rows=rows_of_any_text)
def test_rows_come_back_from_every_format(name: str, rows: list[Row]) -> None:
    write = write_jsonl if "json" in name.lower() else write_parquet if "parquet" in name else write_cells
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path, [as_record(row) for row in rows])
        assert list(read_rows(path)) == rows


def without_line_ends(row: Row) -> Row:
    def flat(text: str | None) -> str | None:
        return text and re.sub("[\t\r\n]", "·", text)

    example = row.example
    texts = {name: flat(getattr(example, name)) for name in ("id", "candidate", "source", "system", "doc_id")}
    return replace(row, example=replace(example, **texts))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
@settings(max_examples=40, deadline=None)
@given(rows=rows_of_any_text.map(lambda rows: [without_line_ends(row) for row in rows]))
def test_rows_of_tsv_come_back_and_quotes_are_text(name: str, rows: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_tabs(path, [as_record(row) for row in rows])
        assert list(read_rows(path)) == rows


def read(folder: Path, text: str | bytes, name: str = "rows.jsonl", **fields: str) -> list[Row]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_rows(path, fields=fields))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"candidate": "A cat."', "not valid JSON: Expecting ',' delimiter at character 23"),
        ("A cat.", "not valid JSON: Expecting value at character 1"),
        ('["A cat."]', "not a JSON object"),
        ("null", "not a JSON object"),
        ("[" * 100_000, "not readable JSON: nested too deeply"),
        (
            '{"candidate": ' + "9" * 5000 + "}",
            "not readable JSON: nested too deeply, or a number",
        ),
        ('{"text": "A cat."}', "no candidate: 'candidate' is missing or null"),
        ('{"candidate": null}', "no candidate"),
        ('{"candidate": NaN}', "no candidate"),
        ('{"candidate": 7}', "candidate must be a string, not int"),
        ('{"candidate": "A.", "source": ["A."]}', "source must be a string, not list"),
        ('{"candidate": "A.", "references": {"a": "A."}}', "references must be a list of texts"),
        ('{"candidate": "A.", "references": ["A.", 3]}', "references must be a list of texts"),
        ('{"candidate": "A.", "references": 3}', "references must be a list of texts"),
        ('{"candidate": "A.", "id": true}', "id must be a string or a number, not bool"),
        ('{"candidate": "A.", "doc_id": [1]}', "doc_id must be a string or a number, not list"),
        ('{"candidate": "A.", "scores": [1]}', "scores must be an object"),
        ('{"candidate": "A.", "scores": "high"}', "scores are not valid JSON"),
    ],
)
def test_a_bad_line_says_what_is_wrong_and_stops_no_other(tmp_path: Path, line: str, said: str) -> None:
    rows = read(tmp_path, f'\n{{"candidate": "Before."}}\n{line}\n{{"candidate": "After."}}\n')
    assert [row.example.id for row in rows] == ["1", "line 3", "3"]
    assert rows[1].problem is not None
    assert rows[1].problem.startswith(f"line 3: {said}")
    assert (rows[1].example.candidate, rows[1].scores) == ("", {})
    assert [row.problem for row in (rows[0], rows[2])] == [None, None]


def test_a_missing_reference_is_an_empty_one(tmp_path: Path) -> None:
    (row,) = read(tmp_path, '{"candidate": "A.", "references": ["B.", null, "", NaN]}')
    assert row.example.references == ("B.", "", "", "")


def test_values_are_converted(tmp_path: Path) -> None:
    record = (
        '{"id": 7, "candidate": "A.", "references": "B.", "doc_id": 12, "system": "", "scores": {"a": "4.5",'
        ' "b": null, "c": NaN, "d": Infinity, "e": "high", "f": true, "g": 3, "h": [1], "i": 1e999}}'
    )
    (row,) = read(tmp_path, record)
    assert row == Row(Example("7", "A.", references=("B.",), doc_id="12"), {"a": 4.5, "g": 3.0})


def test_texts_that_are_odd_but_valid_pass_through(tmp_path: Path) -> None:
    rows = read(
        tmp_path, '\ufeff{"candidate": "\\ud800"}\r\n\r\n{"candidate": ""}\n{"candidate": "a\u2028b"}'
    )
    assert [row.example.candidate for row in rows] == ["\ud800", "", "a\u2028b"]
    assert [row.example.id for row in rows] == ["1", "2", "3"]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv"])
def test_a_line_that_is_not_utf8_is_one_bad_line(tmp_path: Path, name: str) -> None:
    lines = (
        [b'{"candidate": "Caf\xe9"}', b'{"candidate": "A."}']
        if "json" in name
        else [b"candidate", b"Caf\xe9", b"A."]
    )
    bad, good = read(tmp_path, b"\n".join(lines), name)
    assert bad.problem is not None
    assert "not UTF-8 text at character" in bad.problem
    assert good.example.candidate == "A."


def test_utf16_is_refused_as_a_whole(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="UTF-16"):
        read(tmp_path, '{"candidate": "A."}'.encode("utf-16"))


def test_cells(tmp_path: Path) -> None:
    text = (
        "candidate,source,references,scores.fluency,extra\n"
        '"One, ""two""\nthree.",,"[""A."", ""B.""]",4.5,x\n'
        "\n"
        "Four.,S.,A single one.,,\n"
        ",S.,,n/a,\n"
    )
    rows = read(tmp_path, text, "rows.csv")
    assert rows == [
        Row(Example("1", 'One, "two"\nthree.', references=("A.", "B.")), {"fluency": 4.5}),
        Row(Example("2", "Four.", "S.", ("A single one.",))),
        Row(Example("3", "", "S.")),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("A.,B.", "the row has 2 cells, but there are 3 columns"),
        ("A.,B.,C.,D.", "the row has 4 cells, but there are 3 columns"),
        ("A.,B.,['C.']", 'references start with "[" but are not a JSON list'),
        ('"A" cat.,B.,', "not valid csv"),
    ],
)
def test_a_bad_line_of_cells_stops_no_other(tmp_path: Path, line: str, said: str) -> None:
    text = f'candidate,source,references\n"Two\nlines.",,\n{line}\nLast.,,\n'
    rows = read(tmp_path, text, "rows.csv")
    assert [row.example.id for row in rows] == ["1", "line 4", "3"]
    assert said in str(rows[1].problem)


def test_a_quote_that_is_never_closed_costs_its_own_line(tmp_path: Path) -> None:
    for lines in (1, 51, 1500):
        text = "candidate,source\nGood.,s\n" + '"Open,s\n' + "Swallowed before.,s\n" * lines
        problems = [row.problem for row in read(tmp_path, text, "rows.csv")]
        assert len(problems) == 2 + lines
        assert [at for at, problem in enumerate(problems) if problem] == [1]
        assert str(problems[1]).startswith("line 3: not valid csv: unexpected end of data")
    text = 'candidate,source\n"Open,s\nOne.,s\n"Quoted, too.",s\nTwo.,s\n'
    rows = read(tmp_path, text, "rows.csv")
    assert [row.problem is None for row in rows] == [False, True, True, True]
    assert rows[2].example.candidate == "Quoted, too."


def test_a_cell_over_ten_lines_is_one_bad_row(tmp_path: Path) -> None:
    for lines, bad in ((10, False), (11, True), (40, True)):
        cell = "\n".join(f"line {n}" for n in range(lines))
        rows = read(tmp_path, f'candidate,source\n"{cell}",s\nNext.,s\n', "rows.csv")
        assert [row.problem is not None for row in rows] == [bad, False]
        if bad:
            said = f"line 2: the row spans lines 2 to {1 + lines}, more than 10; use jsonl for such texts"
            assert rows[0].problem == said


@pytest.mark.parametrize("quote", ['"', '""', "'"])
def test_an_opening_quote_in_tsv_swallows_nothing(tmp_path: Path, quote: str) -> None:
    lines = [f"{quote if n == 40 else ''}Row {n}.\ts" for n in range(800)]
    rows = read(tmp_path, "candidate\tsource\n" + "\n".join(lines), "rows.tsv")
    assert [row.example.candidate for row in rows] == [line.partition("\t")[0] for line in lines]


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "LONGEST_LINE", 1000)
    with pytest.raises(DataError, match="a line has over 1,000 characters"):
        read(tmp_path, b"\0" * 5000)
    good, last = read(tmp_path, '{"candidate": "A."}\n' + "x" * 5000)
    assert good.example.candidate == "A."
    assert "a line has over 1,000" in str(last.problem)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device of zeros")
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_a_device_is_refused_and_a_pipe_is_read_as_it_comes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.symlink_to("/dev/zero")
    with pytest.raises(DataError, match="is a device; name a file or a pipe"):
        read_rows(path)
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", f"printf 'candidate\\nA.\\n' > {pipe}"])
    assert [row.example.candidate for row in read_rows(pipe)] == ["A."]
    assert writer.wait(timeout=100) == 0


def test_standard_input_may_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="standard input is closed"):
        list(read_rows("-"))


def test_a_time_that_python_cannot_hold_costs_its_own_row(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    times = pa.array([0, 10**13, 0], pa.timestamp("s"))
    pq.write_table(pa.table({"candidate": ["A.", "B.", "C."], "scores.when": times}), path)
    rows = list(read_rows(path))
    assert [row.problem is None for row in rows] == [True, False, True]
    assert str(rows[1].problem).startswith("row 2: unreadable value: ")


def test_a_cell_may_be_longer_than_the_csv_library_likes(tmp_path: Path) -> None:
    (row,) = read(tmp_path, "candidate\n" + "word " * 60_000 + "\n", "rows.csv")
    assert len(row.example.candidate) == 300_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "id;candidate\n1;A.\n",
            "no column 'candidate' .*; there are: 'id;candidate'; name it with --fields",
        ),
        ("candidate,id,id\nA.,1,2\n", "column names must"),
        ('"candidate" x\n', "cannot read the column names"),
    ],
)
def test_a_bad_header_ends_it(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read(tmp_path, text, "rows.csv")


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.tsv"])
def test_an_empty_file_has_no_rows(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, "", name) == []


def test_fields_rename_columns(tmp_path: Path) -> None:
    text = '{"summary": "A.", "candidate": "not this", "article": "S.", "flu": "2"}\n{"summary": "B."}'
    fields = parse_fields("candidate=summary, source=article,scores.fluency=flu")
    first, second = read(tmp_path, text, **fields)
    assert first == Row(Example("1", "A.", "S."), {"fluency": 2.0})
    assert second == Row(Example("2", "B."))


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_a_renamed_column_must_be_there(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    record = {"candidate": "A.", "text": "S."}
    if name == "rows.parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({key: [value] for key, value in record.items()}), path)
    else:
        (write_jsonl if "json" in name else write_cells)(path, [record])
    with pytest.raises(DataError, match="no column 'article'; there are: 'candidate', 'text'"):
        list(read_rows(path, fields={"source": "article"}))


@pytest.mark.parametrize("text", ["summary=candidate", "candidate", "candidate=", "id=a,id=b", "scores=a,x"])
def test_fields_that_make_no_sense(text: str) -> None:
    with pytest.raises(UsageError):
        parse_fields(text)


def test_unknown_fields_are_refused_before_reading() -> None:
    with pytest.raises(UsageError, match="no field 'summary'; there are: id, candidate"):
        read_rows("-", fields={"summary": "candidate"})


def test_paths_that_cannot_be_read_are_refused_before_reading(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text("[]")
    (tmp_path / "rows.xlsx").write_text("")
    with pytest.raises(DataError, match="does not exist"):
        read_rows(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match="is a folder"):
        read_rows(tmp_path)
    with pytest.raises(DataError, match=r"one JSON object a line \(\.jsonl\)"):
        read_rows(tmp_path / "rows.json")
    with pytest.raises(UsageError, match=r"\.jsonl, \.jsonl\.gz, \.csv"):
        read_rows(tmp_path / "rows.xlsx")
    with pytest.raises(DataError, match="cannot read"):
        read_rows("x" * 5000 + ".jsonl")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, pack: type[bytes]) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(pack(b'{"candidate": "A."}\n{"candidate": "B."}\n')))
    monkeypatch.setattr(sys, "stdin", stdin)
    rows = read_rows("-")
    assert next(rows).example.candidate == "A."
    assert next(rows).example.candidate == "B."
    assert next(rows, None) is None
    assert not stdin.closed


def test_gzip_is_known_by_its_bytes(tmp_path: Path) -> None:
    (row,) = read(tmp_path, gzip.compress(b'{"candidate": "A."}'), "rows.jsonl")
    assert row.example.candidate == "A."
    with pytest.raises(DataError, match="not a gzip file"):
        read(tmp_path, '{"candidate": "A."}', "rows.jsonl.gz")


def test_a_gzip_file_cut_off_anywhere_loses_no_whole_row(tmp_path: Path) -> None:
    lines = [json.dumps({"candidate": f"Row {n} {'x' * (n * 7 % 50)}"}) for n in range(300)]
    whole = gzip.compress("".join(line + "\n" for line in lines).encode())
    for cut in range(30, len(whole), 11):
        complete = zlib.decompressobj(31).decompress(whole[:cut]).count(b"\n")
        if not complete:
            with pytest.raises(DataError, match="cannot read"):
                read(tmp_path, whole[:cut], "rows.jsonl.gz")
            continue
        *good, last = read(tmp_path, whole[:cut], "rows.jsonl.gz")
        assert [row.example.id for row in good] == [str(n + 1) for n in range(complete)]
        assert all(row.problem is None for row in good)
        assert f"after line {complete}: " in str(last.problem)
        assert "damaged or truncated" in str(last.problem)


def test_a_damaged_gzip_file_keeps_the_rows_before(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(b'{"candidate": "A."}\n'))
    whole[-6] ^= 1  # in the checksum
    good, last = read(tmp_path, bytes(whole), "rows.jsonl.gz")
    assert good.example.candidate == "A."
    assert "CRC check failed" in str(last.problem)


def test_parquet_columns_of_every_shape(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "id": [1, 2],
            "candidate": ["A.", "B."],
            "source": pa.array(["S.", None]).dictionary_encode(),
            "references": [["R.", "T."], None],
            "scores": [{"fluency": 4.0, "coherence": None}, {"fluency": None, "coherence": 2.5}],
            "scores.overall": [3, 4],
            "embedding": [[0.5], [0.25]],
        }
    )
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path)
    assert list(read_rows(path)) == [
        Row(Example("1", "A.", "S.", ("R.", "T.")), {"fluency": 4.0, "overall": 3.0}),
        Row(Example("2", "B."), {"coherence": 2.5, "overall": 4.0}),
    ]


def test_parquet_bad_rows_and_damage(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"candidate": ["A.", None]}), path)
    assert [row.problem for row in read_rows(path)] == [
        None,
        "row 2: no candidate: 'candidate' is missing or null",
    ]
    with pytest.raises(DataError, match="cannot read"):
        read(tmp_path, b"PAR1 this is none", "rows.parquet")


def test_parquet_damaged_later_keeps_the_rows_before(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    texts = [f"Row {n} of many." for n in range(4000)]
    pq.write_table(pa.table({"candidate": texts}), path, row_group_size=1000, compression="zstd")
    column = pq.read_metadata(path).row_group(2).column(0)
    data = bytearray(path.read_bytes())
    start = column.data_page_offset
    data[start : start + column.total_compressed_size // 2] = b"\xff" * (column.total_compressed_size // 2)
    *good, last = read(tmp_path, bytes(data), "rows.parquet")
    assert len(good) >= 1000
    assert [row.example.candidate for row in good] == texts[: len(good)]
    assert "damaged" in str(last.problem)


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'gistmeter\[parquet\]'"):
        read(tmp_path, b"", "rows.parquet")


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.jsonl.gz"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    (write_jsonl if "json" in name else write_cells)(path, [{"candidate": "word " * 400}] * 5000)

    def peak(rows: Iterator[Row]) -> int:
        tracemalloc.start()
        try:
            assert sum(1 for _ in rows) == 5000
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(read_rows(path)) < 1_000_000  # the file holds ten million characters


@pytest.mark.shared
def test_the_development_data_reads_whole(shared_data: Path) -> None:
    rows = list(read_rows(shared_data / "benchmarks" / "summeval.dev.jsonl.gz"))
    assert len(rows) == 800
    assert all(row.problem is None and len(row.example.references) == 11 for row in rows)
    assert set(rows[0].scores) == {"coherence", "consistency", "fluency", "relevance"}


def test_a_row_without_a_candidate_keeps_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"id": 7, "system": "A", "doc_id": "d", "candidate": null}\n{"id": [], "candidate": 1}\n'
    )
    first, second = (row.example for row in read_rows(path))
    assert (first.id, first.system, first.doc_id) == ("7", "A", "d")
    assert (second.id, second.system) == ("line 2", None)


def test_a_column_that_only_some_rows_have_may_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = '{"candidate": "A."}\n{broken\n{"candidate": "B.", "article": "C."}\n'
    rows = read(tmp_path, lines, source="article")
    assert [row.example.source for row in rows] == [None, None, "C."]
    assert [row.example.id for row in rows] == ["1", "line 2", "3"]
    monkeypatch.setattr("gistmeter.io.formats.LOOKED_AT", 2)
    with pytest.raises(DataError, match="has no column 'article'"):
        read(tmp_path, lines, source="article")
