"""Debian's Chromium, driven by Playwright; tests that need it are skipped where it is missing."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(__file__).parents[1] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
PICTURES = Path(__file__).parents[1] / "docs"
PATIENCE = 120_000  # milliseconds; a machine may be busy


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Return a browser; it goes with the module, because Playwright's event loop would disturb others."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    driver = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    with driver.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@contextmanager
def tab(browser: "Browser", *, allowed: Sequence[re.Pattern[str]] = ()) -> "Iterator[Page]":
    """Yield a page; afterwards, check that nothing was logged, and that no request left this machine.

    Args:
        browser: The browser.
        allowed: What may be logged.
    """
    noted: list[str] = []
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: noted.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: noted.append(str(error)))
    page.on("request", lambda request: noted.extend(_foreign(request.url)))
    try:
        yield page
    finally:
        context.close()
    assert [text for text in noted if not any(each.search(text) for each in allowed)] == []


def picture(page: "Page", name: str) -> None:
    """Make a picture of the documentation anew, if GISTMETER_PICTURES is set."""
    if os.environ.get("GISTMETER_PICTURES"):
        page.screenshot(path=PICTURES / name, full_page=True)


def _foreign(url: str) -> list[str]:
    parts = urlsplit(url)
    own = parts.scheme in ("file", "data", "blob") or parts.hostname == "127.0.0.1"
    return [] if own else [f"request: {url}"]


def findings(page: "Page", *rules: str) -> list[tuple[str, str, str]]:
    """Return the serious findings of axe-core on a page: impact, rule, first element.

    Args:
        page: The page.
        rules: The rules to check; all by default.
    """
    if not AXE.exists():
        pytest.skip("axe-core is not installed: make axe")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        (each["impact"], each["id"], each["nodes"][0]["html"])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]
