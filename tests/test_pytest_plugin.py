"""Test the pytest plugin: its import time, and the output of a failed check."""

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from gistmeter.core.score import Span
from pytest_gistmeter import Check, message

ROOT = Path(__file__).parents[1]
SOURCE = "The bakery chain Kornfeld will open its first shop abroad in Ghent in October."
RETOLD = "In October, the bakery chain Kornfeld will open a first shop abroad in Ghent."
WRONG = "The bakery chain Kornfeld will open its first shop abroad in Dresden in October."


def run_pytest(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_gistmeter", *arguments, "test_it.py"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_entry_point_is_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    plugin = import_module(project["entry-points"]["pytest11"]["gistmeter"])
    assert plugin.gistmeter_check


def test_nothing_is_imported_until_a_check_is_made(tmp_path: Path) -> None:
    text = (
        "import sys\n"
        "def test_it(gistmeter_check):\n"
        "    heavy = {'gistmeter', 'numpy', 'torch', 'transformers', 'spacy'}\n"
        "    assert not heavy & sys.modules.keys()\n"
    )
    done = run_pytest(tmp_path, text)
    assert done.returncode == 0, done.stdout


def test_a_message_marks_what_is_wrong() -> None:
    span = Span("candidate", WRONG.index("Dresden"), WRONG.index("Dresden") + 7, 0.0)
    said = message(WRONG, [(span, "ghent")], [], lambda text: f"<{text}>")
    assert said.splitlines() == [
        "not supported by the source:",
        WRONG.replace("Dresden", "<Dresden>"),
        "'Dresden': the source says 'ghent'",
    ]


@pytest.mark.slow
def test_a_wrong_fact_fails_and_a_right_one_passes() -> None:
    check = Check(colour=True)
    check.assert_supported(SOURCE, SOURCE)
    with pytest.raises(AssertionError) as caught:
        check.assert_supported(WRONG, SOURCE)
    assert "\x1b[1;31mDresden\x1b[0m in October" in str(caught.value)
    with pytest.raises(AssertionError, match=r"cloze is .*, below 1"):
        check.assert_supported(RETOLD, SOURCE, at_least=1)
    with pytest.raises(ValueError, match="cannot be checked: the candidate is empty"):
        check.assert_supported("", SOURCE)


@pytest.mark.slow
def test_the_fixture_fails_a_test_with_the_sentence(tmp_path: Path) -> None:
    text = f"def test_it(gistmeter_check):\n    gistmeter_check.assert_supported({WRONG!r}, {SOURCE!r})\n"
    done = run_pytest(tmp_path, text, "--color=no")
    assert done.returncode == 1
    assert "abroad in »Dresden« in October" in done.stdout
    assert "'Dresden': the source says 'ghent'" in done.stdout
    assert "assert_supported(self" not in done.stdout, "the check itself is not in the traceback"
