"""Test the JSON and Markdown of suites, and `gistmeter reproduce`."""

import json
import math
from pathlib import Path

import pytest

from gistmeter.app.cli import main
from gistmeter.bench.suites.figures import _look, draw
from gistmeter.bench.suites.names import SUITE_NAMES
from gistmeter.bench.suites.registry import SUITES
from gistmeter.bench.suites.render import document, markdown, page, to_json
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Data, Figure, Line, Result, Series, Table
from tests.bench.suites.test_suites import FACTS, rows_of

DOCS = Path(__file__).parents[3] / "docs"
LINES = (
    Line("ours|first", "fluency", 0.5, 0.45, "speed", "pooled", 3, 0.1, 0.75, "speed|version=1"),
    Line("big", "fluency", paper=0.1, metric="speed", level="pooled", note="not run: far away"),
    Line("big", "relevance", paper=-0.2, metric="speed", level="pooled", note="not run: far away"),
    Line("constant", "fluency", metric="chrf", level="pooled", n=3, note="all values are the same"),
)


def test_markdown_shows_ours_paper_difference_n_level_and_signature() -> None:
    tiny = Suite("tiny", "Tiny", (Data("set"),), lambda bench: Result(()))
    result = Result((Table("A table", LINES, ("A note.",)),), says=("It is small.",))
    text = markdown(json.loads(to_json(document(tiny, result, FACTS, ()))))
    assert (
        "| ours\\|first · `speed` | fluency | 0.500 | [0.100, 0.750] | 0.450 | +0.050 | 3 | pooled | [1] |  |"
        in text
    )
    assert "| big · `speed` | fluency, relevance | — |  | 0.100, −0.200 |" in text
    assert "- [1] `speed|version=1`" in text
    assert "Data: set (3 rows); `preset=mini`. Not available: other (no file)." in text
    assert text.index("It is small.") < text.index("A note.") < text.index("all values are the same")
    with pytest.raises(ValueError, match="JSON"):
        to_json({"x": math.nan})


def test_levels_of_earlier_versions_are_read_as_todays(tmp_path: Path) -> None:
    tiny = Suite("tiny", "Tiny", (Data("set"),), lambda bench: Result(()))
    lines = [
        Line("x", "fluency", 0.5, metric="chrf", level=level, n=3) for level in ("flat", "document", "pairs")
    ]
    path = tmp_path / "k.json"
    path.write_text(to_json(document(tiny, Result((Table("A", tuple(lines)),)), FACTS, ())), encoding="utf-8")
    text = page(tmp_path)
    assert [line.split(" | ")[7] for line in text.splitlines() if line.startswith("| x")] == [
        "pooled",
        "summary",
        "pairs",
    ]


def test_figures_are_drawn_as_png_and_svg_and_the_same_every_time(tmp_path: Path) -> None:
    names = Figure(
        "bars", "T", "x", "y", (Series("a", ("p", "q"), (0.5, -0.5)), Series("b", ("q",), (None,))), False
    )
    curve = Figure("curve", "T", "k", "r", (Series("a", (1, 2, 4), (0.5, None, 0.25)),))
    for figure in (names, curve):
        first = {path.name: path.read_bytes() for path in draw(figure, tmp_path, "tiny")}
        assert [name.rpartition(".")[2] for name in first] == ["png", "svg"]
        assert first == {path.name: path.read_bytes() for path in draw(figure, tmp_path, "tiny")}
    assert b"PNG" in first["tiny-curve.png"][:8] and b"<svg" in first["tiny-curve.svg"]
    assert draw(Figure("none", "T", "", "", (Series("a", (1,), (None,)),)), tmp_path, "tiny") == []


def test_the_page_is_in_step_with_the_json_it_was_made_of() -> None:
    made = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert made == page(DOCS / "benchmarks"), "run: python benchmarks/document.py"
    for name in SUITE_NAMES:
        path = DOCS / "benchmarks" / f"{name}.json"
        for figure in json.loads(path.read_text(encoding="utf-8"))["figures"] if path.is_file() else ():
            assert (DOCS / "benchmarks" / f"{name}-{figure['name']}.png").is_file()


def test_the_command_writes_json_markdown_and_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tuple(SUITES) == SUITE_NAMES
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    lines = []
    for row in rows_of("summeval"):
        texts = {"candidate": row.example.candidate, "source": row.example.source}
        known = {
            "references": row.example.references,
            "system": row.example.system,
            "doc_id": row.example.doc_id,
        }
        lines.append(json.dumps({"id": row.example.id, **texts, **known, "scores": row.scores}))
    (data / "summeval.dev.jsonl").write_text("\n".join(lines))
    folders = ["--data", str(data), "--output", str(out), "--cache", str(tmp_path / "cache"), "--quiet"]
    assert main(["reproduce", "summeval", "chrf", "extractive", "--limit", "15", *folders]) == 0
    made = json.loads((out / "summeval.json").read_text())
    assert made["command"] == "gistmeter reproduce summeval chrf extractive --data FOLDER --limit 15"
    assert {line["metric"] for line in made["tables"][-1]["lines"]} == {"chrf", "extractive"}
    assert str(tmp_path) not in (out / "summeval.json").read_text()
    assert "| `chrf` |" in (out / "summeval.md").read_text()
    assert (out / "summeval-every.png").is_file() and (out / "summeval-every.svg").is_file()
    assert "summeval.md" in capsys.readouterr().out
    for wrong, code in ((["nothing"], 2), (["k", "chfr"], 2), (["k"], 3)):
        (data / "summeval.dev.jsonl").unlink(missing_ok=True)
        assert main(["reproduce", *wrong, *folders]) == code
    capsys.readouterr()
    assert main(["benchmark", "--suite", "k", *folders]) == 2
    assert "gistmeter reproduce SUITE" in capsys.readouterr().err


def test_series_of_a_scatter_plot_look_different() -> None:
    looks = [_look(at, joined=False) for at in range(30)]
    assert len({(look["color"], look["marker"]) for look in looks}) == 30
