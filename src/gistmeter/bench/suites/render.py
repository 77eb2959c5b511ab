"""Render suite results as JSON and Markdown; `docs/benchmarks.md` is generated from the JSON files."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from gistmeter.bench.suites.names import SUITE_NAMES
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Result
from gistmeter.core.levels import ALIASES

Document = Mapping[str, Any]
"""Content of a suite's JSON file."""
HEAD = (
    "metric",
    "dimension",
    "ours",
    "95 % interval",
    "paper",
    "difference",
    "n",
    "level",
    "signature",
    "note",
)
PAGE = """\
# Benchmarks

Each suite reproduces tables of a paper and shows the published results next to ours. `gistmeter reproduce
NAME --data FOLDER --output docs/benchmarks` runs a suite; `python benchmarks/document.py` generates this page
from the JSON files.

*ours* and *paper* are correlations unless stated otherwise; *difference* is ours minus the paper's. We use
development rows, a subset of the paper's rows, so read a difference together with the interval. A line
without a result gives the reason in its note. Times depend on the machine and its load.
"""


def document(suite: Suite, result: Result, facts: Mapping[str, object], drawn: Collection[str]) -> Document:
    """Return the content of a suite's JSON file.

    Args:
        suite: Suite.
        result: Result of the suite.
        facts: Settings of the run: `command`, `preset`, `limit`, `data`, …
        drawn: File stems of the figures that were drawn; a figure without data is not drawn.
    """
    tables = [
        {
            "title": table.title,
            "notes": list(table.notes),
            "lines": [{**asdict(line), "difference": line.difference} for line in table.lines],
        }
        for table in result.tables
    ]
    pictures = [asdict(figure) for figure in result.figures if f"{suite.name}-{figure.name}" in drawn]
    head = {"suite": suite.name, "title": suite.title, **facts}
    return {**head, "says": list(result.says), "tables": tables, "figures": pictures}


def to_json(made: Document) -> str:
    """Return a document as JSON; raise ValueError for NaN and infinities."""
    return json.dumps(made, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def markdown(made: Document, *, folder: str = "", depth: int = 1) -> str:
    """Return a document as Markdown.

    Args:
        made: Result of `document`, or content of its JSON file.
        folder: Folder of the figures relative to the page: "benchmarks/" or "".
        depth: Level of the top heading.
    """
    numbers = _signatures(made)
    mark = "#" * depth
    blocks = [f"{mark} {made['suite']}: {made['title'].lower()}", f"```\n{made['command']}\n```", _data(made)]
    if made["says"]:
        blocks.append("\n".join(f"- {sentence}" for sentence in made["says"]))
    for table in made["tables"]:
        blocks += [f"{mark}# {table['title']}", *table["notes"], _table(table["lines"], numbers)]
    blocks += [
        f"![{figure['title']}]({folder}{made['suite']}-{figure['name']}.png)" for figure in made["figures"]
    ]
    if numbers:
        blocks.append("\n".join(f"- [{number}] `{text}`" for text, number in numbers.items()))
    return "\n\n".join(filter(None, blocks)) + "\n"


def page(folder: Path) -> str:
    """Return `docs/benchmarks.md`, generated from the JSON files in a folder.

    Levels in files of earlier versions (`flat`, `document`) are read as `pooled` and `summary`.
    """
    parts = [PAGE]
    for name in SUITE_NAMES:
        path = folder / f"{name}.json"
        if path.is_file():
            made = read_document(path)
            parts.append(markdown(made, folder=f"{folder.name}/", depth=2))
        else:
            parts.append(f"## {name}\n\nNot measured yet.\n")
    return "\n".join(parts)


def read_document(path: Path) -> Document:
    """Read a suite's JSON file; level names of earlier versions are replaced by the current ones."""
    made: Document = json.loads(path.read_text(encoding="utf-8"))
    for table in made["tables"]:
        for line in table["lines"]:
            line["level"] = ALIASES.get(line["level"], line["level"])
    return made


def _data(made: Document) -> str:
    there = [f"{name} ({facts['rows']:,} rows)" for name, facts in made["data"].items() if facts["rows"]]
    lacking = [f"{name} ({facts['reason']})" for name, facts in made["data"].items() if not facts["rows"]]
    first = f", the first {made['limit']} rows of each file" if made["limit"] else ""
    said = f"Data: {', '.join(there) or 'none'}{first}; `preset={made['preset']}`."
    return said + (f" Not available: {'; '.join(lacking)}." if lacking else "")


def _signatures(made: Document) -> dict[str, int]:
    lines = (line for table in made["tables"] for line in table["lines"])
    texts = dict.fromkeys(line["signature"] for line in lines if line["signature"])
    return {text: number for number, text in enumerate(texts, 1)}


def _table(lines: Sequence[Document], numbers: Mapping[str, int]) -> str:
    rows = [_joined(list(group), numbers) for _, group in groupby(lines, key=_alike)]
    return "\n".join(map(_row, [HEAD, ["---"] * len(HEAD), *[row for group in rows for row in group]]))


def _alike(line: Document) -> tuple[str, ...]:
    """Return a grouping key; lines of a metric that was not run, for the same reason, are merged."""
    if line["ours"] is None and line["note"]:
        return line["label"], line["note"]
    return line["label"], line["note"], line["dimension"], line["metric"], line["level"]


def _joined(lines: Sequence[Document], numbers: Mapping[str, int]) -> list[list[str]]:
    first = lines[0]
    if len(lines) > 1:
        what = _listed([line["dimension"] for line in lines])
        paper = ", ".join(_number(line["paper"]) for line in lines)
        papers = "" if set(paper) <= set("—, ") else paper
        return [[_name(first), what, "—", "", papers, *[""] * 4, first["note"]]]
    interval = "" if first["low"] is None else f"[{_number(first['low'])}, {_number(first['high'])}]"
    ours = "—" if first["ours"] is None else _number(first["ours"])
    differs = "" if first["difference"] is None else _signed(first["difference"])
    paper = "" if first["paper"] is None else _number(first["paper"])
    count = f"{first['n']:,}" if first["n"] else ""
    signature = f"[{numbers[first['signature']]}]" if first["signature"] else ""
    cells = [_name(first), first["dimension"], ours, interval, paper, differs, count, first["level"]]
    return [[*cells, signature, first["note"]]]


def _listed(names: Sequence[str]) -> str:
    """List names; a common prefix up to a colon is given once."""
    shared = names[0].partition(": ")[0] + ": "
    if all(name.startswith(shared) for name in names):
        return shared + ", ".join(name.removeprefix(shared) for name in names)
    return ", ".join(names)


def _name(line: Document) -> str:
    if not line["metric"] or line["metric"] == line["label"]:
        return f"`{line['label']}`" if line["metric"] else str(line["label"])
    return f"{line['label']} · `{line['metric']}`"


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}".replace("-", "−")


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
