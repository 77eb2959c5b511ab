"""Test README: run its `bash` blocks, and parse its `sh` blocks, which need a network or hours."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gistmeter.app.cli import parse
from gistmeter.catalog import METRICS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    """Return the code of README's blocks in a language."""
    return [code for name, code in BLOCKS if name == language]


def test_every_block_is_tested() -> None:
    assert {name for name, _ in BLOCKS} == {"bash", "sh", "python", "text"}  # doctest runs those in Python
    assert len(README.splitlines()) < 150


@pytest.fixture(scope="module")
def pasted(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Paste the `bash` blocks into one shell, one after the other, in an empty folder."""
    folder = tmp_path_factory.mktemp("readme")
    commands = tmp_path_factory.mktemp("bin")
    command = commands / "gistmeter"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gistmeter "$@"\n')
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{commands}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
    }
    script = "set -eu\n" + "echo =====\n".join(blocks("bash"))
    run = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout, folder


@pytest.mark.slow
def test_bash_blocks_run(pasted: tuple[str, Path]) -> None:
    output, folder = pasted
    assert "Pearson" in output
    assert (folder / "scores.jsonl").read_text(encoding="utf-8").count("\n") == 6
    assert (folder / "figures.json").exists()


@pytest.mark.slow
def test_the_pair_prints_what_readme_shows(pasted: tuple[str, Path]) -> None:
    (shown,) = blocks("text")
    assert pasted[0].split("=====")[0].split() == shown.split()


@pytest.mark.parametrize("line", "".join(blocks("sh")).splitlines())
def test_other_commands_are_parsed(line: str) -> None:
    program, *words = shlex.split(line)
    if program == "pip":
        assert words[0] == "install"
        return
    assert program == "gistmeter"
    parse(words)


def test_the_table_has_every_metric() -> None:
    table = README[README.index("## Which metric") : README.index("## Results")]
    named = {name.partition(":")[0] for name in re.findall(r"`([\w:=]+)`", table)}
    assert named >= set(METRICS)


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(page: str) -> None:
    text = re.sub(
        r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    targets = [t.partition("#")[0] for t in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in t]
    assert [t for t in targets if t and not ((ROOT / page).parent / t).exists()] == []
