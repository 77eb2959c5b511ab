"""`gistmeter compare` and `gm.compare`: from scores to tables, sentences and pictures."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gistmeter as gm
from gistmeter.app.cli import main
from gistmeter.core.errors import DataError, UsageError
from gistmeter.report.cells import wrapped

EXAMPLES = Path(__file__).parents[2] / "examples" / "careful.jsonl"


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scores") / "scores.jsonl"
    arguments = ["score", "extractive", "novelty", "-i", str(EXAMPLES), "-o", str(path), "--quiet"]
    assert main(arguments) == 0
    return path


def row(id: str, value: float | None, **more: object) -> dict[str, object]:
    problem = "no value" if value is None else None
    return {"id": id, "metric": "m", "value": value, "problem": problem, "signature": "m|1", **more}


def write(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["compare", *arguments, "--format", "json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_command_and_python_give_the_same(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = gm.score(["extractive", "novelty"], str(EXAMPLES), progress=False)
    of_report, of_file = gm.compare(report), gm.compare(str(scores))
    assert of_report == of_file
    assert as_json(capsys, str(scores)) == of_file.to_dict()


def test_the_figures_are_those_of_the_rows(scores: Path) -> None:
    rows = [json.loads(line) for line in scores.read_text().splitlines()]
    values = {
        system: np.array([r["value"] for r in rows if (r["metric"], r["system"]) == ("extractive", system)])
        for system in ("careful", "careless")
    }
    found = gm.compare(scores)
    pair = found.pairs[0]
    assert (pair["a"], pair["b"], pair["n"], pair["documents"]) == ("careful", "careless", 40, 40)
    assert pair["difference"] == pytest.approx((values["careful"] - values["careless"]).mean())
    assert [(s["system"], s["rank"]) for s in found.systems[:2]] == [("careful", 1), ("careless", 2)]
    assert found.systems[0]["mean"] == pytest.approx(values["careful"].mean())


def test_files_stand_for_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = write(tmp_path / "one.jsonl", [row(str(at), at / 20) for at in range(12)])
    b = write(tmp_path / "two.jsonl", [row(str(at), at / 20 - 0.1) for at in range(12)])
    (pair,) = as_json(capsys, a, b)["pairs"]
    assert (pair["a"], pair["b"], pair["significant"]) == ("one", "two", True)
    assert pair["difference"] == pytest.approx(0.1)


def test_files_with_the_same_systems_are_compared_by_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [
        write(tmp_path / f"{name}.jsonl", [row(str(at), at + shift, system="gpt") for at in range(3)])
        for name, shift in (("old", 0.0), ("new", 1.0))
    ]
    (pair,) = as_json(capsys, *files, "--by", "file")["pairs"]
    assert (pair["a"], pair["b"], pair["difference"]) == ("old", "new", -1.0)
    assert main(["compare", *files]) == 3
    assert "there is nothing to compare: 1 systems" in capsys.readouterr().err


def test_any_column_may_name_the_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(f"{at}", at * size, size=size, doc_id=f"d{at}") for size in (1, 2) for at in range(4)]
    (pair,) = as_json(capsys, write(tmp_path / "s.jsonl", rows), "--by", "size")["pairs"]
    assert (pair["a"], pair["b"], pair["difference"]) == ("1", "2", -1.5)


@pytest.mark.parametrize("kind", ["csv", "jsonl.gz", "parquet"])
def test_every_format_of_scores_is_read(kind: str, scores: Path, tmp_path: Path) -> None:
    path = tmp_path / f"scores.{kind}"
    arguments = ["score", "extractive", "novelty", "-i", str(EXAMPLES), "-o", str(path), "--quiet"]
    assert main(arguments) == 0
    assert gm.compare(path) == gm.compare(scores)


def test_few_documents_get_a_warning_and_no_stars(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(f"{at}", at / 10 + up, doc_id=f"{at}", system=s) for s, up in (("a", 1), ("b", 0))
            for at in range(9)]  # fmt: skip
    path = write(tmp_path / "s.jsonl", rows)
    found = as_json(capsys, path)
    assert found["pairs"][0]["p_holm"] < 0.05
    assert not found["pairs"][0]["significant"]
    assert {s["rank"] for s in found["systems"]} == {1}
    assert "too few documents to test" in found["sentences"][0]
    assert main(["compare", path]) == 0
    printed = capsys.readouterr().out
    assert "warning: the pair has fewer than ten documents (down to 9)" in printed
    assert "  *  " not in printed


def test_rows_without_a_value_are_left_out_of_the_pair_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = [row(f"{at}", None if at < 2 else 1.0, system="a") for at in range(12)]
    b = [row(f"{at}", None if at == 11 else 0.5, system="b") for at in range(12)]
    found = as_json(capsys, write(tmp_path / "s.jsonl", a + b))
    (pair,) = found["pairs"]
    assert (pair["n"], pair["n_undefined"]) == (9, 3)
    assert "rows that lack a value in one of the two systems (up to 3)" in found["warnings"][1]


def test_a_sentence_says_what_was_found(scores: Path) -> None:
    first, second = gm.compare(scores).sentences
    assert first.startswith("On 40 documents, careful scores higher than careless on extractive (mean 0.738")
    assert "paired permutation test by document, p < .001" in first
    assert second.startswith("On 40 documents, careless scores higher than careful on novelty")


def test_without_a_difference_the_sentence_says_what_would_be_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [row(f"{at}", float(x), system=s) for s in "ab" for at, x in enumerate(rng.normal(0, 1, 50))]
    found = gm.compare(write(tmp_path / "s.jsonl", rows))
    assert "do not differ significantly on m" in found.sentences[0]
    assert f"a difference of {found.pairs[0]['detectable']:.3f} shows in 80 % of tests" in found.sentences[0]


@pytest.mark.parametrize(
    ("format", "wanted"),
    [
        ("markdown", "| a\\|b\\_c   |"),
        ("latex", r"\toprule"),
        ("html", "<td>a|b_c   </td>"),
        ("text", "a|b_c"),
    ],
)
def test_formats_escape_names(
    format: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row(f"{at}", at * up, system=s) for s, up in (("a|b_c", 1), ("<i>&", 2)) for at in range(3)]
    assert main(["compare", write(tmp_path / "s.jsonl", rows), "--format", format]) == 0
    printed = capsys.readouterr().out
    assert wanted.replace(" ", "") in printed.replace(" ", "")
    if format == "html":
        assert "&lt;i&gt;&amp;" in printed
        assert "<i>" not in printed
    if format == "latex":
        assert r"\&" in printed


def test_frames_have_a_row_a_pair_or_system(scores: Path) -> None:
    found = gm.compare(scores)
    frame = found.to_frame("pandas")
    assert list(frame["metric"]) == ["extractive", "novelty"]
    assert frame["difference"][0] == found.pairs[0]["difference"]
    assert list(found.to_frame("pandas", of="systems")["rank"]) == [1, 2, 1, 2]
    assert "extractive" in found._repr_html_()
    assert repr(found) == "Comparison: 2 systems, metrics: 2; print() shows the tables"


def test_the_plot_is_a_picture(scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "dots.png"
    assert main(["compare", str(scores), "--plot", str(path)]) == 0
    drawn = path.read_bytes()
    assert drawn.startswith(b"\x89PNG")
    gm.compare(scores).plot(tmp_path / "again.png")
    assert (tmp_path / "again.png").read_bytes() == drawn
    assert main(["compare", str(scores), "--plot", str(tmp_path / "dots.pdf")]) == 2
    assert "the name must end in .png" in capsys.readouterr().err


def test_only_the_systems_asked_for_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(f"{at}", at * k, system=s) for k, s in enumerate("abc") for at in range(4)]
    path = write(tmp_path / "s.jsonl", rows)
    found = as_json(capsys, path, "--system", "c", "--system", "a")
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [("c", "a")]
    assert len(as_json(capsys, path)["pairs"]) == 3
    assert main(["compare", path, "--system", "c", "--system", "aa"]) == 2
    assert "no system 'aa'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row("1", 1.0, system="a"), {**row("1", 2.0, system="b"), "signature": "m|2"}], "in the same way"),
        ([row("1", 1.0), row("1", 2.0)], "line 1: no system"),
        ([row("1", 1.0, system="a"), {**row("1", 1.0, system="b"), "value": "high"}], "not a number"),
        ([row("1", 1.0, system="a"), row("2", 2.0, system="b")], "share neither ids nor documents"),
        ([{"id": "1", "candidate": "text"}], "has no column 'metric'"),
        ([], "there is nothing to compare"),
    ],
)
def test_what_cannot_be_compared_is_an_error(
    rows: list[dict[str, object]], said: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=said):
        gm.compare(write(tmp_path / "s.jsonl", rows))


def test_python_takes_reports_by_name() -> None:
    texts = ["Rain fell.", "It snowed.", "It ran."]
    one = gm.score("length_ratio", candidates=texts, sources=texts)
    other = gm.score("length_ratio", candidates=["Rain", "It", "It"], sources=texts)
    (pair,) = gm.compare({"one": one, "other": other}).pairs
    assert (pair["a"], pair["b"], pair["n"]) == ("one", "other", 3)
    assert pair["difference"] > 0
    with pytest.raises(UsageError, match="reports can be compared by"):
        gm.compare(one, by="length")
    with pytest.raises(UsageError, match="give a report"):
        gm.compare(3)  # type: ignore[arg-type]


def test_long_names_of_systems_are_whole_in_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"organisation/summarizer-large-tuned-on-many-documents-v{at}" for at in (1, 2)]
    rows = [row(str(at), at / 20, system=name, doc_id=str(at)) for name in names for at in range(12)]
    path = write(tmp_path / "scores.jsonl", rows)
    for format in ("text", "markdown", "latex", "html"):
        assert main(["compare", path, "--format", format, "--quiet"]) == 0
        table = capsys.readouterr().out.partition("rank: ")[0]
        parts = [part for name in names for part in wrapped(name).split("\n")] if format == "text" else names
        assert all(part in table for part in parts) and "…" not in table


def test_files_without_a_common_metric_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write(tmp_path / "a.jsonl", [row("1", 1.0)])
    other = write(tmp_path / "b.jsonl", [{**row("1", 2.0), "metric": "n", "signature": "n|1"}])
    assert main(["compare", one, other]) == 3
    assert "no metric has scores of two systems" in capsys.readouterr().err


def test_a_plot_that_cannot_be_written_leaves_the_earlier_one(
    scores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plot.png"
    path.write_bytes(b"earlier")
    written = Path.write_bytes

    def fail(self: Path, data: bytes) -> int:
        written(self, data[:9])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(DataError, match="No space left"):
        gm.compare(scores).plot(path)
    assert path.read_bytes() == b"earlier" and list(tmp_path.iterdir()) == [path]
