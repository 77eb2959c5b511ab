"""Resolve gistmeter beside other libraries on each Python version; print a Markdown table: `make resolve`.

Needs uv and a package index; downloads metadata only. Pass `--find-links FOLDER` for local wheels.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
OTHERS = ("lm-eval", "deepeval", "mlflow", "ragas", "evaluate")
SHOWN = ("torch", "transformers", "spacy")


def resolve(python: str, others: tuple[str, ...], options: list[str]) -> dict[str, str] | str:
    """Return the version of each package, or the last line of the resolver's explanation."""
    with tempfile.TemporaryDirectory() as folder:
        extra = Path(folder, "others.in")
        extra.write_text("\n".join(others))
        command = [
            "uv",
            "pip",
            "compile",
            "--quiet",
            "--no-annotate",
            "--no-header",
            "--python-version",
            python,
        ]
        done = subprocess.run(
            [*command, *options, str(ROOT / "pyproject.toml"), str(extra)],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        return " ".join(done.stderr.split())
    return dict(re.findall(r"^([\w.-]+)==(\S+)", done.stdout, re.MULTILINE))


def main(options: list[str]) -> int:
    """Print the table; return 1 if a combination cannot be installed."""
    failed = []
    sys.stdout.write(f"| Python | beside | packages | {' | '.join(SHOWN)} | version of the other |\n")
    sys.stdout.write(f"|{'---|' * (len(SHOWN) + 4)}\n")
    for python in PYTHONS:
        for other in ("", *OTHERS):
            found = resolve(python, (other,) if other else (), options)
            if isinstance(found, str):
                failed.append(f"{python} {other}: {found}")
                cells = ["no"] + ["–"] * (len(SHOWN) + 1)
            else:
                cells = [str(len(found)), *(found[name] for name in SHOWN), found.get(other, "–")]
            sys.stdout.write(f"| {python} | {other or '–'} | {' | '.join(cells)} |\n")
    for line in failed:
        sys.stderr.write(f"{line}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
