"""Generate docs/papers.md from docs/papers.toml.

make papers
"""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TABLE, PAGE = ROOT / "docs" / "papers.toml", ROOT / "docs" / "papers.md"
STATES = {
    "done": "runs with what ships and with public data",
    "needs data": "the code runs; the data is not public",
    "needs a model": "the code runs; the model does not ship, see the note",
    "cited only": "the paper's figure stands beside ours; the method is not implemented",
    "missing": "not implemented",
}
HEAD = """\
# The papers, part by part

Each equation, table, figure, ablation and baseline of the five papers: where it is in the code, the command
that runs it, and its state. `make papers` generates this page from `docs/papers.toml`. Names are below the
package `gistmeter`; paths are below the repository's root.
"""


PRESETS = """\
`--preset paper` selects a public model of the paper's kind, with the settings below. It is the paper's own
metric only where the authors published their trained model, which is true for `cloze`.
"""


def rows_of(paper: Mapping[str, Any]) -> list[list[str]]:
    """Return the rows of a paper: part, where, command, state, note."""
    return [list(map(str, row)) for row in paper["rows"]]


def page(content: Mapping[str, Any]) -> str:
    """Return the page in Markdown, given the content of papers.toml."""
    papers: Sequence[Mapping[str, Any]] = content["paper"]
    states = Counter(row[3] for paper in papers for row in rows_of(paper))
    legend = "\n".join(f"| {state} | {said} | {states[state]} |" for state, said in STATES.items())
    blocks = [HEAD, f"| state | meaning | rows |\n|---|---|---|\n{legend}\n"]
    for paper in papers:
        note = f"{paper['note']}\n\n" if paper.get("note") else ""
        lines = "\n".join(map(_line, rows_of(paper)))
        head = "| part | where | command | state | note |\n|---|---|---|---|---|"
        blocks.append(f"## {paper['title']}\n\n{note}{head}\n{lines}\n")
    blocks.append(_presets(content["presets"]))
    return "\n".join(blocks)


def _presets(rows: Sequence[Sequence[str]]) -> str:
    lines = "\n".join(
        f"| `{metric}` | {_code(models) or 'none'} | {sets} | {differs} |"
        for metric, models, sets, differs in rows
    )
    head = "| metric | model | setting | difference from the paper |\n|---|---|---|---|"
    return f"## What the preset `paper` is\n\n{PRESETS}\n{head}\n{lines}\n"


def _line(row: Sequence[str]) -> str:
    part, where, command, state, note = (cell.replace("|", "\\|") for cell in row)
    names = _code(where)
    shown = f"`{command}`" if command else ""
    return f"| {part} | {names or '—'} | {shown or '—'} | {state} | {note} |"


def _code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", ") if name)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(tomllib.loads(TABLE.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
