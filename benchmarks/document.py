"""Generate docs/benchmarks.md from the suites' JSON files in docs/benchmarks."""

from pathlib import Path

from gistmeter.bench.suites.render import page


def main() -> None:
    """Write the page."""
    docs = Path(__file__).parents[1] / "docs"
    (docs / "benchmarks.md").write_text(page(docs / "benchmarks"), encoding="utf-8")


if __name__ == "__main__":
    main()
