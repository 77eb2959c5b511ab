"""Test the HTML report in Chromium: its security policy, filters, sorting, and use by keyboard."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import gistmeter as gm
from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.face import view_of
from gistmeter.report.html.data import View
from gistmeter.report.html.page import page
from gistmeter.report.report import Report
from tests.browser import browser, findings, picture, tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["browser"]

EXAMPLES = Path(__file__).parents[2] / "examples" / "careful.jsonl"
pytestmark = pytest.mark.browser
HOSTILE = "</script><img src=x onerror=document.title='hacked'>"
DRIVER = """async () => {
const one = (query) => document.querySelector(query);
const all = (query) => [...document.querySelectorAll(query)];
const ids = () => all(".gm-id").map((element) => element.textContent);
const set = (name, value) => {
  const field = one(`[name=${name}]`);
  field.value = value;
  field.dispatchEvent(new Event(field.tagName === "INPUT" ? "input" : "change"));
};
const press = (key) =>
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const found = {};
STEPS
return found;
}"""


def report() -> Report:
    examples = [
        Example("hostile", f"😀 {HOSTILE} sank.", source=f"It sank. {HOSTILE}", system="x"),
        Example("cut", "Rain fell.", source="Rain fell all day and all night.", system="y"),
        Example("none", "", system="x"),
        *(Example(f"more-{at}", "Rain.", source="Rain.", system="y") for at in range(30)),
    ]
    end = len(examples[0].candidate)
    spans = (Span("candidate", 0, 1, 0.9), Span("candidate", end - 5, end - 1, 0.1, note="source 3:7"))
    cut = (Flag("truncated", "source", 10, 20),)
    scores = [
        Score("hostile", 0.4, spans=spans),
        Score("cut", 0.9, flags=cut),
        Score.undefined("none", "empty"),
    ]
    scores += [Score(f"more-{at}", 0.5) for at in range(30)]
    other = [Score.undefined(example.id, "no") for example in examples]
    metrics = {"m": (Signature.of("m", version=1), scores), "n": (Signature.of("n", version=1), other)}
    return Report.of(metrics, examples)


@contextmanager
def opened(browser: "Browser", folder: Path, view: View | None = None) -> "Iterator[Page]":
    """Yield a tab with the report, after its script has drawn it."""
    file = folder / "report.html"
    file.write_text(page(view or report().view), "utf-8")
    with tab(browser) as found:
        found.goto(file.as_uri())
        found.wait_for_selector("article")
        yield found


def driven(browser: "Browser", folder: Path, steps: str) -> dict[str, Any]:
    """Return what steps found in the report."""
    with opened(browser, folder) as tab:
        found: dict[str, Any] = tab.evaluate(DRIVER.replace("STEPS", steps))
    return found


def test_the_policy_lets_the_report_draw_itself_and_texts_stay_texts(
    browser: "Browser", tmp_path: Path
) -> None:
    with opened(browser, tmp_path) as found:
        dom = found.content()
    assert "Show 13 more of 13 rows" in dom
    assert dom.count("<article") == 20
    assert "<img" not in dom
    assert "hacked" not in re.findall(r"<title>.*?</title>", dom)[0]
    assert 'class="gm-cut"' in dom
    assert re.search(r'gm-v4"[^>]*>😀<', dom), "offsets count characters"
    assert re.search(r'gm-v0"[^>]*>sank<', dom)


def test_focus_shows_the_note_and_lights_up_the_evidence(browser: "Browser", tmp_path: Path) -> None:
    found = driven(
        browser,
        tmp_path,
        """
        one("article .gm-span").focus();
        press("ArrowRight");
        found.focused = document.activeElement.textContent;
        found.lit = all(".gm-text .gm-lit").map((element) => element.textContent);
        found.tooltip = one(".gm-tooltip").textContent;
        found.texts = all("article")[0].querySelector(".gm-sides").textContent;
        press("Escape");
        found.left = all(".gm-text .gm-lit").length;
        found.hidden = one(".gm-tooltip").hidden;
        one("article .gm-span").dispatchEvent(new MouseEvent("mouseenter"));
        found.hovered = one(".gm-tooltip").textContent;
        """,
    )
    assert (found["focused"], found["lit"]) == ("sank", ["sank"])
    assert "0.100" in found["tooltip"] and "source 3:7" in found["tooltip"]
    assert (found["left"], found["hidden"]) == (0, True)
    assert found["texts"].count(HOSTILE) == 2
    assert "0.900" in found["hovered"]


def test_rows_are_filtered_sorted_and_reached_by_keys(browser: "Browser", tmp_path: Path) -> None:
    found = driven(
        browser,
        tmp_path,
        """
        found.all = one(".gm-count").textContent;
        set("system", "x"); found.system = ids(); set("system", "");
        set("flag", "=truncated"); found.flag = ids();
        set("flag", ":problem"); found.problem = ids(); set("flag", "");
        set("low", "0.45"); set("high", "0.95"); found.value = one(".gm-count").textContent;
        set("low", ""); set("high", "");
        set("sort", "up"); found.up = ids()[0]; set("sort", "down"); found.down = ids()[0];
        set("metric", "1"); found.metric = one(".gm-value").textContent; set("metric", "0"); set("sort", "");
        one("article").focus(); press("j"); found.next = document.activeElement.getAttribute("aria-label");
        press("k"); found.back = document.activeElement.getAttribute("aria-label");
        one(".gm-more").click(); found.drawn = all("article").length;
        """,
    )
    assert found == {
        "all": "33 of 33 rows", "system": ["hostile", "none"], "flag": ["cut"], "problem": ["none"],
        "value": "31 of 33 rows", "up": "hostile", "down": "cut", "metric": "—", "next": "Row cut",
        "back": "Row hostile", "drawn": 33,
    }  # fmt: skip


def test_each_sentence_stands_on_a_line_with_its_value_and_the_lowest_stands_out(
    browser: "Browser", tmp_path: Path
) -> None:
    text = "It rained. 😀 It sank\n\nand sank. Fine."
    spans = (Span("candidate", 0, 10, 0.9), Span("candidate", 13, 31, 0.1), Span("candidate", 16, 20, 0.3))
    example = Example("1", text, source="It rained.")
    made = Report.of({"m": (Signature.of("m", version=1), [Score("1", 0.5, spans=spans)])}, [example])
    view = replace(made.view, sentences=[[(0, 10), (11, 31), (32, 37)]])
    with opened(browser, tmp_path, view) as found:
        sentences = found.locator(".gm-sentence")
        assert sentences.all_text_contents() == ["It rained. ", "😀 It sank\n\nand sank. ", "Fine."]
        values = sentences.evaluate_all("all => all.map((each) => each.dataset.value)")
        assert values == ["0.900", "0.200", ""]
        assert found.locator(".gm-lowest").all_text_contents() == ["😀 It sank\n\nand sank. "]
        tops = sentences.evaluate_all("all => all.map((each) => each.getBoundingClientRect().top)")
        assert tops == sorted(set(tops))
        assert found.locator(".gm-text").first.text_content() == text
        assert found.locator("[name=system], [name=sort]").first.is_hidden(), "one row needs no filters"


def test_the_report_is_accessible(browser: "Browser", tmp_path: Path) -> None:
    with opened(browser, tmp_path) as found:
        assert findings(found) == []
        found.emulate_media(color_scheme="dark")
        assert findings(found, "color-contrast") == []


@pytest.mark.slow
def test_the_wrong_sentence_of_the_worst_row_stands_out(browser: "Browser", tmp_path: Path) -> None:
    documents = ("orchestra", "bakery", "trial", "brewery", "drought")
    rows = [json.loads(line) for line in EXAMPLES.read_text("utf-8").splitlines()]
    rows = [row for row in rows if row["doc_id"] in documents]
    with opened(browser, tmp_path, view_of(gm.score(["check", "cloze"], rows, progress=False))) as found:
        found.set_viewport_size({"width": 1100, "height": 1100})
        found.select_option("[name=sort]", "up")
        assert "careless" in found.inner_text("article .gm-tags")
        found.hover("article .gm-lowest .gm-span")
        assert found.locator(".gm-text .gm-lit").count() > 0
        found.evaluate(
            "document.querySelectorAll('article ~ article, .gm-more').forEach((each) => each.remove())"
        )
        picture(found, "report.png")
