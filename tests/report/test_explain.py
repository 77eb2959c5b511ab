"""Test `--explain`: sentences with evidence, and escape sequences only on a terminal."""

import io
import math

import pytest

from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score, Span
from gistmeter.report.explain import explain

EXAMPLE = Example("1", "It sank off Harle. All were saved.", source="It was towed to Sorn.")
CUTS = [(0, 18), (19, 34)]
SPANS = (
    Span("candidate", 12, 17, 0.1, 1.0, "→ Sorn (confidence .83)"),
    Span("candidate", 19, 34, 0.9, 1.0, "source: It was towed to Sorn."),
    Span("source", 16, 20, 0.0),
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(file: io.StringIO, score: Score, example: Example = EXAMPLE) -> list[str]:
    explain("cloze", score, example, CUTS, file)
    return file.getvalue().splitlines()


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")


def test_a_pipe_gets_sentences_values_and_evidence_without_escapes() -> None:
    assert printed(io.StringIO(), Score("1", 0.5, spans=SPANS, flags=(Flag("odd"),))) == [
        "cloze  0.500  ⚑ odd",
        "  0.100  It sank off Harle.",
        "         0.100 “Harle”  → Sorn (confidence .83)",
        "           source: It was towed to Sorn.",
        "  0.900  All were saved.",
    ]


def test_a_terminal_gets_colours_and_the_same_words() -> None:
    score = Score("1", 0.5, spans=SPANS)
    lines = printed(Terminal(), score)
    assert "\x1b[" in "".join(lines)
    assert "Harle\x1b[0m" in lines[1], "the low span is coloured, not the sentence"


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    score = Score("1", 0.5, spans=SPANS)
    assert printed(Terminal(), score) == printed(io.StringIO(), score)


@pytest.mark.parametrize("file", [io.StringIO(), Terminal()])
def test_escapes_of_a_text_are_never_printed(file: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    hostile = "\x1b[31mred\x1b]0;title\x07 \u202eback[/bold]\r\n"
    example = Example("1", hostile * 2, source=hostile)
    spans = (
        Span("candidate", 0, 9, 0.1, 1.0, f"source: {hostile}"),
        Span("candidate", 9, 30, 0.0, 1.0, hostile),
    )
    text = "".join(printed(file, Score("1", 0.5, spans=spans, flags=(Flag(hostile),)), example))
    assert not [c for c in text if c in "\x1b\x07\r\u202e"]
    assert "[/bold]" in text, "markup is text"


def test_a_problem_stands_for_the_text() -> None:
    lines = printed(io.StringIO(), Score.undefined("1", "the candidate is empty"))
    assert lines == ["cloze  —", "  the candidate is empty"]


def test_spans_without_a_value_or_weight_count_for_nothing() -> None:
    spans = (
        Span("candidate", 0, 2, math.nan, 0.0),
        Span("candidate", 3, 7, 0.4),
        Span("candidate", 0, 18, 1.0, 0.0),
    )
    assert printed(io.StringIO(), Score("1", 0.4, spans=spans))[1] == "  0.400  It sank off Harle."


def test_long_sentences_wrap_under_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    example = Example("1", "word " * 30)
    file = io.StringIO()
    explain("m", Score("1", 0.5), example, [(0, 149)], file)
    lines = file.getvalue().splitlines()[1:]
    assert len(lines) > 3
    assert all(len(line) <= 40 and line[9:13] == "word" for line in lines)
