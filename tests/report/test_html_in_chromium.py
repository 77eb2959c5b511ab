"""Test the HTML report in Chromium: its security policy, filters, sorting, and use by keyboard."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.report.html.page import page
from gistmeter.report.report import Report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"),
]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--window-size=1200,900",
    "--virtual-time-budget=5000", "--enable-logging=stderr", "--dump-dom",
]  # fmt: skip
HOSTILE = "</script><img src=x onerror=document.title='hacked'>"
DRIVER = """
const wait = (ms) => new Promise((go) => setTimeout(go, ms));
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
(async () => {
  await wait(1000);
  const found = {};
  STEPS
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
})();
"""


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


def opened(file: Path, folder: Path) -> tuple[str, str]:
    """Return the document after its scripts have run, and what the browser logged."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, done.stderr


def driven(folder: Path, steps: str) -> dict[str, Any]:
    """Return what steps found, run after the report is drawn, which its policy would not allow."""
    text = re.sub(r"<meta http-equiv[^>]*>", "", page(report().view))
    file = folder / "driven.html"
    file.write_text(
        text.replace("</body>", f"<script>{DRIVER.replace('STEPS', steps)}</script></body>"), "utf-8"
    )
    dom, log = opened(file, folder)
    match = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    assert match, log
    found: dict[str, Any] = json.loads(unescape(match[1]))
    return found


def test_the_policy_lets_the_report_draw_itself_and_texts_stay_texts(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(report().view), "utf-8")
    dom, log = opened(file, tmp_path)
    assert not re.findall(r".*CONSOLE.*", log)
    assert "Show 13 more of 13 rows" in dom
    assert dom.count("<article") == 20
    assert "<img" not in dom
    assert "hacked" not in re.findall(r"<title>.*?</title>", dom)[0]
    assert 'class="gm-cut"' in dom
    assert re.search(r'gm-v4"[^>]*>😀<', dom), "offsets count characters"
    assert re.search(r'gm-v0"[^>]*>sank<', dom)


def test_focus_shows_the_note_and_lights_up_the_evidence(tmp_path: Path) -> None:
    found = driven(
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


def test_rows_are_filtered_sorted_and_reached_by_keys(tmp_path: Path) -> None:
    found = driven(
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
