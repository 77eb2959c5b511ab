"""The page in a real browser: score, mark, upload, cancel, keyboard only, accessible, nothing foreign."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gistmeter.serve.service import Service
from tests.browser import browser, findings, picture, tab
from tests.serve.running import Held, light_service, service_of, serving, until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
__all__ = ["browser"]
HOSTILE = "</textarea></script><script>document.title='hacked'</script><img src=x onerror=alert(1)>"
HOSTILE += " javascript:alert(1) \x1b[31m \u202e"


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """Return the address of a service with a model that ships, and two metrics without one."""
    with serving(light_service("check", "extractive", "novelty")) as client:
        yield str(client.base_url)


def opened(page: "Page", address: str) -> None:
    page.goto(address)
    page.wait_for_selector("#state[data-state=ready]")


def test_the_unsupported_sentence_is_marked_and_its_evidence_shown(browser: "Browser", service: str) -> None:
    with tab(browser) as page:
        opened(page, service)
        page.click("#example")
        page.click("#score")
        page.wait_for_selector("#result article")
        assert page.inner_text(".gm-lowest").strip() == "The mayor has resigned and moved to Spain."
        page.hover(".gm-sentence >> nth=0 >> .gm-span")
        assert "source:" in page.inner_text(".gm-tooltip")
        assert page.inner_text(".gm-text .gm-lit").startswith("The council of Aldermoor")
        page.hover(".gm-lowest .gm-span")
        assert "in doubt:" in page.inner_text(".gm-tooltip")
        assert page.inner_text(".gm-text .gm-lit").startswith("The mayor, Ines Korda, said")
        picture(page, "serve.png")
        page.select_option("select[name=metric]", label="novelty")
        assert "of the system outputs in 50 articles of SummEval" in page.inner_text(".gm-figures")


def test_the_pages_are_accessible(browser: "Browser", service: str) -> None:
    with tab(browser) as page:
        opened(page, service)
        page.click("#example")
        page.click("#score")
        page.wait_for_selector("#result article")
        assert findings(page) == []
        page.emulate_media(color_scheme="dark")
        assert findings(page, "color-contrast") == []
        page.goto(f"{service}/docs")
        assert findings(page) == []


def test_the_page_works_with_the_keyboard_alone(browser: "Browser", service: str) -> None:
    with tab(browser) as page:
        opened(page, service)
        focus_by_tab(page, "#candidate")
        page.keyboard.type("The pool closes. The mayor resigned.")
        focus_by_tab(page, "#source")
        page.keyboard.type("The pool closes in May.")
        focus_by_tab(page, "#score")
        page.keyboard.press("Enter")
        page.wait_for_selector("#result article")
        page.wait_for_selector("#result:focus")
        focus_by_tab(page, "article .gm-span")
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.textContent") == "The mayor resigned."
        assert page.is_visible(".gm-tooltip")
        page.keyboard.press("Escape")
        assert page.is_hidden(".gm-tooltip")


def focus_by_tab(page: "Page", selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab does not reach {selector}")


def test_a_file_is_uploaded_filtered_and_hostile_texts_stay_texts(
    browser: "Browser", service: str, tmp_path: Path
) -> None:
    rows = [
        {"id": HOSTILE, "candidate": f"{HOSTILE} It rained.", "source": "It rained.", "system": HOSTILE},
        {"id": "2", "candidate": "It rained.", "source": "It rained.", "system": "b"},
        {"id": "3", "candidate": "", "source": "It rained.", "system": "b"},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + "broken\n", "utf-8")
    with tab(browser) as page:
        opened(page, service)
        page.set_input_files("#file", file)
        assert page.is_hidden("#source")
        page.uncheck("input[value='novelty']")
        page.click("#score")
        page.wait_for_selector("#result article")
        assert "hacked" not in page.title()
        assert page.locator("#result img").count() == 0
        assert HOSTILE in (page.text_content("#result .gm-text") or "")
        assert page.locator("#result article").count() == 4
        assert "not valid JSON" in page.inner_text("#result article >> nth=3")
        page.select_option("#result [name=system]", "b")
        assert page.locator("#result .gm-id").all_inner_texts() == ["2", "3"]
        page.click("#forget")
        assert page.is_visible("#source")


def test_errors_are_shown(browser: "Browser", service: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("words\nx\n", "utf-8")
    with tab(browser) as page:
        opened(page, service)
        page.click("#score")
        assert page.inner_text("#problem") == "Paste a candidate to score, or drop a file."
    with tab(browser, allowed=(re.compile("status of 422"),)) as page:
        opened(page, service)
        page.set_input_files("#file", file)
        page.click("#score")
        page.wait_for_selector("#problem:not(:empty)")
        assert page.inner_text("#problem").startswith("the file has no column 'candidate'")


def test_progress_is_shown_and_cancel_ends_the_work(browser: "Browser") -> None:
    metric = Held(open=False)
    held: Service = service_of(metric)
    with serving(held) as client, tab(browser) as page:
        opened(page, str(client.base_url))
        page.fill("#candidate", "Rain fell.")
        page.click("#score")
        page.locator("#said", has_text="0 of 1 scores").wait_for()
        until(metric.entered.is_set)
        assert page.is_disabled("#score")
        page.click("#cancel")
        page.locator("#said", has_text="Cancelled.").wait_for()
        assert page.is_enabled("#score")
        metric.gate.set()
        page.click("#score")
        page.wait_for_selector("#result article")


def test_the_page_asks_for_the_token(browser: "Browser") -> None:
    with (
        serving(light_service("novelty"), token="a-token-of-the-tests") as client,
        tab(browser, allowed=(re.compile("status of 401"),)) as page,
    ):
        page.goto(str(client.base_url))
        page.wait_for_selector("#state[data-state=down]")
        page.fill("#token", "a-token-of-the-tests")
        page.keyboard.press("Tab")
        page.wait_for_selector("#state[data-state=ready]")
        page.click("#example")
        page.click("#score")
        page.wait_for_selector("#result article")
