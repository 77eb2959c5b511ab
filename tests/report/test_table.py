"""Test text tables: content, alignment, and escaping of texts."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gistmeter.core.example import Example
from gistmeter.core.result import MetricResult
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.report.table import benchmark_table, pair_text, score_table

NO_SOURCE = "the row has no source"


def report(*scores: Score, name: str = "speed") -> MetricResult:
    return MetricResult.of(Signature.of(name, version=1, match="greedy"), scores)


def cut(text: str, flag: int = 510) -> Score:
    return Score(text, 0.25, flags=(Flag("truncated", "source", kept=flag, total=1322),))


def table_lines(text: str) -> list[list[str]]:
    """Return the cells of each line, columns being two or more blanks apart."""
    return [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]


def test_few_examples_are_shown_one_by_one() -> None:
    speed = report(Score("a", 0.8125), cut("b"), Score.undefined("c", NO_SOURCE))
    chrf = report(Score("a", 34.5), Score("b", -0.00012), Score("c", 0.0), name="chrf")
    examples, summary, notes, signatures = score_table([("speed", speed), ("chrf", chrf)]).split("\n\n")
    assert table_lines(examples) == [
        ["id", "speed", "chrf"],
        ["----", "-------", "--------"],
        ["a", "0.812", "34.500"],
        ["b", "*0.250", "-1.2e-04"],
        ["c", "—", "0.000"],
    ]
    header, _, first, second = table_lines(summary)
    assert header == ["metric", "mean", "95 % interval", "n", "undefined"]
    assert first == ["speed", "0.531", "[0.250, 0.812]", "2", "1"]
    assert second[:2] + second[3:] == ["chrf", "11.500", "3", "0"]
    assert notes.splitlines() == [
        "* b: truncated (source, 510 of 1322) (speed)",
        "— c: the row has no source (speed)",
    ]
    assert signatures.splitlines() == ["speed|version=1|match=greedy", "chrf|version=1|match=greedy"]


def test_columns_line_up() -> None:
    text = score_table([("speed", report(Score("a", 10.5), cut("a longer id"), Score("c", -0.5)))])
    first, *_ = text.split("\n\n")
    points = {line.index(".") for line in first.splitlines() if "." in line}
    assert len(points) == 1
    assert all(line == line.rstrip() for line in text.splitlines())


def test_many_examples_are_summed_up() -> None:
    scores = [
        *(Score(str(n), 0.5) for n in range(18)),
        cut("x", 3),
        cut("y", 4),
        Score.undefined("z", NO_SOURCE),
    ]
    text = score_table([("speed", report(*scores))])
    summary, notes, _ = text.split("\n\n")
    assert table_lines(summary)[2][0] == "speed"
    assert notes.splitlines() == ["* 2 rows: truncated (source)", "— 1 row: the row has no source"]
    assert len(score_table([("speed", report(*scores))], examples_limit=21).split("\n\n")) == 4


def test_a_row_that_no_metric_could_read_is_explained_once() -> None:
    scores = (Score("1", 0.5), Score.undefined("line 2", "line 2: not JSON"))
    text = score_table([(name, report(*scores)) for name in ("speed", "chrf")])
    assert "\n— line 2: not JSON (all metrics)\n" in text


def test_notes_end_somewhere() -> None:
    scores = [Score.undefined(f"line {n}", f"line {n}: bad word {n}") for n in range(50)]
    notes = score_table([("speed", report(*scores))]).split("\n\n")[1].splitlines()
    assert len(notes) == 21
    assert notes[-1] == "… and 30 more"


def test_many_metrics_are_laid_out_in_blocks() -> None:
    labels = [f"metric:option={n},other=long" for n in range(14)]
    text = score_table([(label, report(Score("1", 0.5))) for label in labels])
    assert max(map(len, text.splitlines())) <= 120
    assert text.count("id ") == 3
    assert "metric:option=0," in text


def test_nothing_to_show() -> None:
    assert score_table([]) == ""
    assert benchmark_table([]) == ""
    assert score_table([("speed", report())]).splitlines()[2].split() == ["speed", "—", "[—,", "—]", "0", "0"]


def test_one_pair_in_detail() -> None:
    source = (
        "The ferry was late. " + "It waited for the storm to pass and for the mail to come on board. " * 3
    )
    example = Example("7", "It was late. It sank.", source, ["Late.", "It came late."])
    spans = (
        Span("reference", 0, 13, math.nan, index=1),
        Span("source", 20, len(source), 0.5, note="n"),
        Span("candidate", 13, 21, 0.125, note="It waited\nfor " + "the storm " * 9),
        Span("candidate", 0, 12, 0.875, note="The ferry was late."),
        Span("source", 0, 19, 0.75),
    )
    flags = (Flag("truncated", "source", kept=3, total=9), Flag("degenerate"))
    text = pair_text("speed", Score("7", 0.5, {"recall": 0.25, "f": math.nan}, spans, flags), example)
    head, candidate, of_source, reference = text.split("\n\n")
    assert table_lines(head) == [
        ["speed", "0.500"],
        ["parts", "recall 0.250, f —"],
        ["flags", "truncated (source, 3 of 9), degenerate"],
    ]
    rows = table_lines(candidate)
    assert rows[0] == ["candidate", "value", "note"]
    assert rows[2] == ["It was late.", "0.875", "The ferry was late."]
    assert rows[3][:2] == ["It sank.", "0.125"]
    assert rows[3][2].startswith("It waited for the storm")
    assert rows[3][2].endswith("…")
    assert table_lines(of_source)[2] == ["The ferry was late.", "0.750"]
    assert table_lines(reference)[::2] == [["reference 1", "value"], ["It came late.", "—"]]
    assert max(map(len, text.splitlines())) <= 100


def test_a_pair_without_a_value_says_why() -> None:
    text = pair_text("speed", Score.undefined("7", NO_SOURCE), Example("7", "A."))
    assert table_lines(text) == [["speed", "—"], ["problem", NO_SOURCE]]


def figure(metric: str, dimension: str, **others: object) -> dict[str, object]:
    row = {
        "task": "made-up",
        "metric": metric,
        "part": "value",
        "dimension": dimension,
        "level": "pooled",
        "n": 800,
    }
    row |= {
        "n_undefined": 0,
        "pearson": 0.2514,
        "low": 0.2,
        "high": 0.304,
        "signature": f"{metric}|version=1",
    }
    return row | others


def test_a_table_a_task_and_level() -> None:
    rows = [
        figure("speed", "fluency"),
        figure("speed", "coherence", pearson=-0.0625, low=-0.5, high=1.0),
        figure("speed", "fluency", level="system", n=16),
        figure("speed", "fluency", part="recall", pearson=None, low=None, high=None, n=790, n_undefined=10),
        figure("rouge", "coherence", low=None, high=None),
    ]
    title, flat, title_of_systems, systems, signatures = benchmark_table(rows).split("\n\n")
    assert title == "made-up, pooled level: Pearson with 95 % interval"
    assert table_lines(flat) == [
        ["fluency", "coherence", "n", "undef"],
        ["------------", "------------------", "------------------", "---", "-------"],
        ["speed", ".251 [.20, .30]", "-.062 [-.50, 1.00]", "800", "0"],
        ["speed/recall", "—", "—", "790", "10"],
        ["rouge", "—", ".251 [—, —]", "800", "0"],
    ]
    assert title_of_systems.startswith("made-up, system level")
    assert table_lines(systems)[0] == ["fluency", "n"]
    assert table_lines(systems)[2] == ["speed", ".251 [.20, .30]", "16"]
    assert signatures.splitlines() == ["speed|version=1", "rouge|version=1"]


def test_correlations_line_up_and_fit_the_terminal() -> None:
    labels = ["speed:against=source,match=optimal,models=best4", "extractive_fragment_density_of_the_whole"]
    values = [0.5, -0.5, 1.0, -0.05]
    rows = [
        figure(label, f"dimension {n}", pearson=value, low=-0.9, high=0.99, n_undefined=3, part="precision")
        for label in labels
        for n, value in enumerate(values * 2)
    ]
    text = benchmark_table(rows)
    assert max(map(len, text.splitlines())) <= 120
    assert text.count("made-up, pooled level") == 2  # eight dimensions do not fit side by side
    _, first, *_ = text.split("\n\n")
    numbered = [line for line in first.splitlines() if "[" in line]
    assert len(numbered) == 2
    assert [m.start() for m in re.finditer(r"\[", numbered[0])] == [
        m.start() for m in re.finditer(r"\[", numbered[1])
    ]
    assert "against=source," in first


@pytest.mark.parametrize(
    "text", ["\x1b[31mred", "a\nb", "\ud800", "\u202egnirts", "\x00", "  ", "x" * 60_000]
)
def test_odd_ids_stay_on_one_line(text: str) -> None:
    shown = score_table([("speed", report(cut(text), Score("2", 0.5)))])
    examples = shown.split("\n\n")[0].splitlines()
    assert len(examples) == 4
    assert len(examples[2]) < 60
    shown.encode()
    assert not set(shown) & {"\x1b", "\x00", "\u202e"}


@settings(max_examples=100, deadline=None)
@given(
    data=st.data(),
    candidate=st.text(st.characters(), max_size=60),
    note=st.text(st.characters(), max_size=60),
)
def test_no_text_breaks_a_pair(data: st.DataObject, candidate: str, note: str) -> None:
    start = data.draw(st.integers(0, len(candidate)))
    span = Span("candidate", start, data.draw(st.integers(start, len(candidate))), 0.5, note=note)
    text = pair_text("speed", Score("1", 0.5, spans=(span,)), Example("1", candidate))
    text.encode()
    assert len(text.splitlines()) == 5
    assert all(character.isprintable() or character == "\n" for character in text)
