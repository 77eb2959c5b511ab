"""Test the HTML report without a browser: complete, small, self-contained, and safe with hostile texts."""

import base64
import hashlib
import math
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import gistmeter as gm
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.described.describe import anchors_of
from gistmeter.face import view_of
from gistmeter.report.html import page as builder
from gistmeter.report.html.data import View
from gistmeter.report.html.page import fragment, page
from gistmeter.report.report import Report
from tests.unpacked import unpacked

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"&<!--</textarea>\u202e\x1b[31m\u2028"
)
EMOJI = "😀 It rained."


class Parsed(HTMLParser):
    """The elements of a page, with the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}
        self.text = ""
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style", "title"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open:
            self.inside.setdefault(self._open[-1], []).append(data)
        else:
            self.text += data

    @property
    def data(self) -> dict[str, Any]:
        return unpacked(self.inside["script"][0])


def hostile_report() -> Report:
    signature = Signature.of(f"m{HOSTILE}", version=1)
    example = Example(HOSTILE, HOSTILE, source=HOSTILE, system=HOSTILE, doc_id=HOSTILE)
    other = Example("2", "Fine.", source="Fine.", system="other")
    spans = (Span("candidate", 0, 9, 0.1, note=HOSTILE),)
    scores = [Score(HOSTILE, 0.5, {HOSTILE: 1.0}, spans, (Flag(HOSTILE),)), Score.undefined("2", HOSTILE)]
    return Report.of({HOSTILE: (signature, scores)}, [example, other], human=[{HOSTILE: 1.0}, {}])


@pytest.mark.parametrize("make", [page, fragment])
def test_hostile_texts_stay_texts(make: Callable[[View], str]) -> None:
    found = Parsed(make(hostile_report().view))
    plain = Parsed(make(Report.of({"m": (Signature.of("m", version=1), [])}, []).view))
    assert [tag for tag, _ in found.elements if tag == "script"] == ["script"] * 2
    assert not [tag for tag, _ in found.elements if tag in ("img", "textarea", "iframe", "object", "form")]
    assert not [name for _, given in found.elements for name in given if name.startswith("on")]
    assert found.inside["script"][1:] == plain.inside["script"][1:], "texts do not reach the code"
    assert "</script><script>alert(1)" in found.text, "names are shown as they are"
    row = found.data["rows"][0]
    assert (row["id"], row["scores"][0]["spans"][0][6]) == (HOSTILE, HOSTILE)
    assert found.data["texts"] == [HOSTILE, "Fine."]


def test_nothing_is_fetched() -> None:
    text = page(hostile_report().view)
    found = Parsed(text)
    links = [
        value
        for _, given in found.elements
        for name in ("src", "href", "action")
        if (value := given.get(name))
    ]
    assert links == ["data:,"]
    code = "".join(found.inside["script"][1:] + found.inside["style"])
    assert not re.search(r"https?:|//[a-z]|@import|url\(|fetch\(|XMLHttpRequest|import\(|WebSocket", code)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", code)
    policy = next(given["content"] for tag, given in found.elements if "http-equiv" in given) or ""
    for kind in ("script", "style"):
        digest = hashlib.sha256(found.inside[kind][-1].encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not [given for _, given in found.elements if "style" in given], "the policy refuses inline styles"


def test_the_page_holds_every_score_and_its_evidence() -> None:
    example = Example(
        "1", f"{EMOJI} Harle.", source="It sank off Harle.", references=["", "Rain."], system="s"
    )
    spans = (
        Span("candidate", 0, 12, 0.25, note="reference 1: Rain."),
        Span("candidate", 13, 18, math.nan, 0.0, "→ Harle (confidence .70)"),
    )
    scores = [Score("1", 1 / 3, {"f1": math.nan}, spans, (Flag("truncated", "source", 1, 2),))]
    report = Report.of({"m": (Signature.of("m", version=1), scores)}, [example], human=[{"fluency": 4.0}])
    data = Parsed(page(report.view)).data
    assert data["total"] == 1
    row = data["rows"][0]
    assert [(side, index, data["texts"][text]) for side, index, text in row["texts"]] == [
        (0, 0, example.candidate), (1, 0, example.source), (2, 1, "Rain.")
    ]  # fmt: skip
    assert (row["id"], row["system"], row["human"]) == ("1", "s", {"fluency": 4.0})
    score = row["scores"][0]
    assert (score["value"], score["parts"], score["problem"]) == (1 / 3, {"f1": None}, None)
    assert score["spans"] == [
        [0, 0, 0, 12, 0.25, 1.0, "reference 1: Rain.", [[2, 1, 0, 5]]],
        [0, 0, 13, 18, None, 0.0, "→ Harle (confidence .70)", [[1, 0, 12, 17]]],
    ]
    assert score["flags"] == [{"name": "truncated", "text": "truncated (source, 1 of 2)", "cut": [1, 0, 11]}]


def test_a_text_that_was_judged_to_its_end_is_not_hatched() -> None:
    flag = Flag("truncated", "source", 1, 2)
    spans = (Span("source", 12, 17, 0.5),)
    report = Report.of(
        {"m": (Signature.of("m", version=1), [Score("1", 0.5, spans=spans, flags=(flag,))])},
        [Example("1", "Rain.", source="It sank off Harle.")],
    )
    assert "cut" not in Parsed(page(report.view)).data["rows"][0]["scores"][0]["flags"][0]


def long_report(rows: int, words: int = 120) -> Report:
    """Every word of two texts has a span with a note, as the longest outputs have."""
    examples, scores = [], []
    for at in range(rows):
        names = [f"w{(at * 7919 + number * 104729) % 99991}" for number in range(words)]
        text = " ".join(names)
        spans, start = [], 0
        for number, name in enumerate(names):
            value = (at * 31 + number * 17) % 101 / 100
            spans.append(Span("candidate", start, start + len(name), value, 1 / words, names[-number]))
            start += len(name) + 1
        examples.append(Example(str(at), text, source=" ".join(reversed(names)) * 5, system=f"s{at % 7}"))
        scores.append(Score(str(at), at / rows, spans=tuple(spans)))
    return Report.of({"m": (Signature.of("m", version=1), scores)}, examples)


@pytest.mark.slow
def test_a_thousand_rows_stay_below_five_megabytes() -> None:
    text = page(long_report(1000).view)
    assert len(text.encode()) < 5_000_000
    assert "1,000 rows, 1 metric." in Parsed(text).text
    assert "evenly spaced" not in text, "all of them are there"


def test_more_rows_than_asked_for_are_sampled_and_the_page_says_so() -> None:
    found = Parsed(page(long_report(50, words=3).view, rows=10))
    assert [row["id"] for row in found.data["rows"]] == [str(at) for at in range(0, 50, 5)]
    assert "below are 10 of them, evenly spaced" in found.text


def test_texts_too_long_for_the_limit_are_sampled_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "MOST_BYTES", 3_000)
    found = Parsed(page(long_report(40, words=20).view))
    assert len(found.inside["script"][0]) <= 3_000
    assert 0 < len(found.data["rows"]) < 40
    assert f"below are {len(found.data['rows'])} of them" in found.text


def test_the_overview_shows_systems_best_first_and_correlations() -> None:
    values = {"a": [0.2, 0.4], "b": [0.6, 0.8]}
    pairs = [(system, value) for system, numbers in values.items() for value in numbers]
    examples = [Example(str(at), "x", system=system) for at, (system, _) in enumerate(pairs)]
    scores = [Score(str(at), value) for at, (_, value) in enumerate(pairs)]
    report = Report.of(
        {"m": (Signature.of("m", version=1, kind="k"), scores)},
        examples,
        human=[{"fluency": -v} for _, v in pairs],
    )
    text = page(report.view)
    assert "aria-label='m: b 0.700; a 0.300'" in text
    assert "<td>-1.00 (4)</td>" in text
    assert "m|version=1|kind=k" in text


def test_long_names_of_systems_are_shown_whole() -> None:
    names = ["facebook/bart-large-cnn-tuned-on-xsum", "facebook/bart-large-cnn-tuned-on-samsum", "x" * 5000]
    examples = [Example(str(at), "x", system=name) for at, name in enumerate(names)]
    scores = [Score(str(at), at / 10) for at in range(len(names))]
    text = page(Report.of({"m": (Signature.of("m", version=1), scores)}, examples).view)
    assert all(f">{name}</text>" in text for name in names[:2])
    assert f">{'x' * 59}…</text>" in text


def test_a_value_stands_next_to_those_of_known_texts() -> None:
    report = gm.score(["novelty", "novelty:value=novel_3"], [Example("1", "Snow fell.", source="Rain fell.")])
    data = Parsed(page(view_of(report))).data
    known = anchors_of(report.results["novelty"].signature.text)
    assert known is not None
    known_score, other_score = data["rows"][0]["scores"]
    assert known_score["standing"] == known.standing(known_score["value"])
    assert [metric["anchors"] for metric in data["metrics"]] == [known.listed, None]
    assert other_score["standing"] is None, "scored with other options than the known texts"


def test_write_html_writes_the_page(tmp_path: Path) -> None:
    report = gm.score("extractive", candidates=["Rain fell."], sources=["Rain fell all day."])
    gm.write_html(report, tmp_path / "report.html", title="Mine & yours")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert Parsed(text).inside["title"][0] == "Mine & yours"
    assert text == page(view_of(report), title="Mine & yours")
    row = Parsed(text).data["rows"][0]
    assert row["scores"][0]["sentences"] == [[0, 10, 1.0]]
    with pytest.raises(DataError, match="there is no folder"):
        gm.write_html(report, tmp_path / "missing" / "report.html")


def test_a_notebook_shows_the_same_view() -> None:
    report = gm.score("extractive", candidates=["Rain fell."], sources=["Rain fell all day."])
    assert Parsed(report._repr_html_()).data == Parsed(page(report.view)).data
