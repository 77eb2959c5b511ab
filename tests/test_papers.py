"""docs/papers.md: every name exists, every command parses, and the page equals what papers.toml generates."""

import importlib
import importlib.util
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gistmeter import catalog
from gistmeter.app.cli import parse
from gistmeter.bench.suites.registry import SUITES
from gistmeter.core.errors import UsageError
from gistmeter.core.options import options_from
from gistmeter.metrics.baselines import bertscore
from gistmeter.metrics.cloze import presets as cloze
from gistmeter.metrics.cloze.presets import BuildOptions
from gistmeter.metrics.maskeval import presets as maskeval
from gistmeter.metrics.maskeval.options import MaskEvalOptions
from gistmeter.metrics.simplicity import presets as simplicity
from gistmeter.metrics.simplicity.options import SimplicityOptions
from gistmeter.metrics.speed import presets as speed
from gistmeter.metrics.speed.options import SpeedOptions
from gistmeter.metrics.sumqe import presets as sumqe
from gistmeter.metrics.sumqe.options import SumQEOptions

ROOT = Path(__file__).parents[1]
OPTIONS: dict[str, type[Any]] = {
    "cloze": BuildOptions,
    "maskeval": MaskEvalOptions,
    "simplicity": SimplicityOptions,
    "speed": SpeedOptions,
    "sumqe": SumQEOptions,
}
LEAST = {"MaskEval": 24, "ClozE": 24, "Simplicity": 22, "SPEED": 22, "SUM-QE": 17}
"""Minimum number of rows by paper."""
PARTS = {
    "MaskEval": {"equation": 7, "table": 2, "figure": 5},
    "ClozE": {"equation": 3, "table": 6, "figure": 4},
    "Simplicity": {"equation": 6, "table": 6, "figure": 3},
    "SPEED": {"equation": 2, "table": 8, "figure": 3},
    "SUM-QE": {"equation": 5, "table": 2, "figure": 3},
}
"""Number of equations, tables and figures of each paper; none may be left out."""


@dataclass(frozen=True)
class Row:
    part: str
    where: str
    command: str
    state: str
    note: str


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("papers", ROOT / "benchmarks" / "papers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CONTENT = tomllib.loads((ROOT / "docs" / "papers.toml").read_text(encoding="utf-8"))
PAPERS = CONTENT["paper"]
ROWS = {
    paper["title"].partition(" ")[0].partition("-aware")[0]: [Row(*row) for row in paper["rows"]]
    for paper in PAPERS
}
EVERY = [row for rows in ROWS.values() for row in rows]


def found(name: str) -> bool:
    """Return whether a module or an attribute of the package exists, or a file of the repository."""
    if "/" in name:
        return (ROOT / name).is_file()
    module, attributes = f"gistmeter.{name}", list[str]()
    while True:
        try:
            here: Any = importlib.import_module(module)
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            attributes.insert(0, last)
            if not module:
                return False
            continue
        for attribute in attributes:
            if not hasattr(here, attribute):
                return False
            here = getattr(here, attribute)
        return True


def refused(command: str) -> str:
    """Return what is wrong with a command line of gistmeter, or an empty string."""
    words = shlex.split(command)
    try:
        arguments = parse(words[1:])
        for spec in getattr(arguments, "metrics", None) or ():
            name, given = catalog.parse_spec(spec)
            if name in OPTIONS and "{" not in spec:
                options_from(OPTIONS[name], given)
    except SystemExit:
        return "the parser refuses it"
    except UsageError as error:
        return str(error)
    if words[1] == "reproduce" and arguments.suite not in SUITES:
        return f"no suite {arguments.suite}"
    if words[1] == "train" and not (ROOT / arguments.recipe).is_file():
        return f"no recipe {arguments.recipe}"
    return ""


def numbers(rows: list[Row], kind: str) -> set[int]:
    """Return the numbers of the equations, tables or figures that the rows name."""
    seen: set[int] = set()
    for row in rows:
        for stretch in row.part.partition(":")[0].lower().replace("(", ", (").split(", "):
            words = stretch.replace(f"{kind}s", kind).split()
            if kind in words:
                seen |= {int(word.rstrip("ab")) for word in words if word.rstrip("ab").isdigit()}
            elif words and all(word.isdigit() for word in words) and f"{kind}s" in row.part:
                seen |= set(map(int, words))
    return seen


@pytest.mark.parametrize("row", EVERY, ids=lambda row: row.part)
def test_every_name_exists_and_every_command_parses(row: Row) -> None:
    absent = [name for name in row.where.split(", ") if name and not found(name)]
    assert not absent
    assert row.state in script().STATES
    if row.command:
        assert row.command.startswith("gistmeter ")
        assert not refused(row.command)
    if row.state != "missing":
        assert row.where and row.command, "say where it is and how to run it"


def test_the_checks_notice_what_is_wrong() -> None:
    assert found("matching.f1") and found("recipes/sumqe.toml")
    assert not found("matching.f2") and not found("nothing.at.all") and not found("recipes/none.toml")
    assert not refused("gistmeter score speed -i rows.jsonl")
    for wrong in (
        "gistmeter scores speed",
        "gistmeter score sped -i rows.jsonl",
        "gistmeter score speed:match=best -i rows.jsonl",
        "gistmeter reproduce nothing --data FOLDER",
        "gistmeter train recipes/none.toml",
    ):
        assert refused(wrong), wrong


@pytest.mark.parametrize("paper", PARTS)
def test_no_equation_table_or_figure_is_left_out(paper: str) -> None:
    rows = ROWS[paper]
    for kind, count in PARTS[paper].items():
        assert numbers(rows, kind) >= set(range(1, count + 1)), kind
    assert len(rows) >= LEAST[paper]
    assert len({row.part for row in rows}) == len(rows)


def test_the_page_is_generated() -> None:
    made = script().page(CONTENT)
    assert (ROOT / "docs" / "papers.md").read_text(encoding="utf-8") == made, "run: make papers"
    for row in EVERY:
        assert made.count(row.part.replace("|", "\\|")) >= 1


def test_every_preset_paper_is_described_as_it_is() -> None:
    known = {
        "maskeval": maskeval.PRESETS["paper"].model,
        "cloze": cloze.PRESETS["paper"].model,
        "simplicity": simplicity.PRESETS["paper"].model,
        "speed": ", ".join(speed.PRESETS["paper"]),
        "sumqe": sumqe.PRESETS["paper"],
        "bertscore": bertscore.PRESETS["paper"].model,
    }
    described = {
        metric: (models, f"{sets}; {differs}") for metric, models, sets, differs in CONTENT["presets"]
    }
    assert {metric: models for metric, (models, _) in described.items()} == known
    assert f"layer {simplicity.PRESETS['paper'].layer}" in described["simplicity"][1]
    assert f"pipeline={cloze.PRESETS['paper'].options['pipeline']}" in described["cloze"][1]
    for metric in ("maskeval", "simplicity"):
        assert "fine-tune" in described[metric][1], "the preset is not the paper's trained model"
    assert "not public" in described["sumqe"][1]
    for metric, sentence in DIFFERENT.items():
        readme = ROOT / "src" / "gistmeter" / "metrics" / metric / "README.md"
        assert sentence in " ".join(readme.read_text(encoding="utf-8").split()), metric


DIFFERENT = {
    "maskeval": "It is not the paper's metric: the paper fine-tunes T5",
    "simplicity": "It is not the paper's metric: the paper fine-tunes the encoder",
    "sumqe": "It has no model",
}
"""Sentences of the READMEs that say what the preset is not."""
