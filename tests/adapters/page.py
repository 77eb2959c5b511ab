"""The examples of docs/adapters.md: read, and run in an interpreter that has their library."""

import re
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path

PAGE = Path("docs/adapters.md")
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def sections() -> dict[str, list[tuple[str, str]]]:
    """Return the (code, output) pairs of each library; the introduction is under an empty name."""
    parts = re.split(r"^## (\w+)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    names = ["", *parts[1::2]]
    return {name: BLOCK.findall(text) for name, text in zip(names, parts[::2], strict=True)}


def outputs(name: str, folder: Path) -> list[str]:
    """Run the examples of a library in a folder, after the introduction; return what each prints."""
    (folder / "examples").symlink_to(Path("examples").resolve())
    found = sections()
    space: dict[str, object] = {"__name__": "page"}
    printed = []
    with chdir(folder):
        for code, _ in (*found[""], *found[name]):
            with redirect_stdout(StringIO()) as said:
                exec(compile(code, f"{PAGE} {name}", "exec"), space)
            printed.append(said.getvalue())
    return printed[len(found[""]) :]
