"""A suite's result as JSON, as Markdown, and as a part of `docs/benchmarks.md`, which is made of the JSON."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Result

Document = Mapping[str, Any]
"""What a suite's JSON file holds."""
HEAD = ("what", "of", "ours", "95 % interval", "paper", "difference", "n", "level", "signature", "note")
PAGE = """\
# Benchmarks

Each suite draws a paper's tables beside what gistmeter measures. `gistmeter reproduce NAME --data
FOLDER --output docs/benchmarks` measures anew, `python benchmarks/document.py` makes this page of the JSON.

*ours* and *paper* are correlations unless said otherwise, *difference* is ours less the paper's. Our rows are
development rows, a part of the paper's, so a difference holds only as far as its interval. A line without a
number says why there is none. Times depend on the machine and on what else it was doing.
"""
SUITE_NAMES = ("summeval", "factual", "gofigure", "simplification", "linguistic", "selective", "k", "pos")


def document(suite: Suite, result: Result, facts: Mapping[str, object], drawn: Collection[str]) -> Document:
    """Return what a suite's JSON file holds.

    Args:
        suite: Which.
        result: What came of it.
        facts: How it was run: `command`, `preset`, `limit`, `data`, …
        drawn: The stems of the pictures that were drawn; a figure without numbers has none.
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
    """Return a document as JSON; NaN and infinities are refused."""
    return json.dumps(made, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def markdown(made: Document, *, folder: str = "", depth: int = 1) -> str:
    """Return a document as Markdown.

    Args:
        made: From `document`, or read from its JSON.
        folder: Where the pictures lie, seen from the page: "benchmarks/" or "".
        depth: Of its heading.
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
    """Return `docs/benchmarks.md`, made of the JSON files in a folder; it says which suites have none."""
    parts = [PAGE]
    for name in SUITE_NAMES:
        path = folder / f"{name}.json"
        if path.is_file():
            made = json.loads(path.read_text(encoding="utf-8"))
            parts.append(markdown(made, folder=f"{folder.name}/", depth=2))
        else:
            parts.append(f"## {name}\n\nNot measured yet.\n")
    return "\n".join(parts)


def _data(made: Document) -> str:
    there = [f"{name} ({facts['rows']:,} rows)" for name, facts in made["data"].items() if facts["rows"]]
    lacking = [f"{name} ({facts['reason']})" for name, facts in made["data"].items() if not facts["rows"]]
    first = f", the first {made['limit']} rows of each file" if made["limit"] else ""
    said = f"Data: {', '.join(there) or 'none'}{first}; `preset={made['preset']}`."
    return said + (f" Not there: {'; '.join(lacking)}." if lacking else "")


def _signatures(made: Document) -> dict[str, int]:
    lines = (line for table in made["tables"] for line in table["lines"])
    texts = dict.fromkeys(line["signature"] for line in lines if line["signature"])
    return {text: number for number, text in enumerate(texts, 1)}


def _table(lines: Sequence[Document], numbers: Mapping[str, int]) -> str:
    rows = [_joined(list(group), numbers) for _, group in groupby(lines, key=_alike)]
    return "\n".join(map(_row, [HEAD, ["---"] * len(HEAD), *[row for group in rows for row in group]]))


def _alike(line: Document) -> tuple[str, ...]:
    """Return what lines share that are shown as one: those of a metric that was not run, for one reason."""
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
    """List names; what all of them begin with, up to a colon, is said once."""
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
