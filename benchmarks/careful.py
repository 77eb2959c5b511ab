"""Measure how often a metric prefers the correct one of two texts that differ in one fact.

The 40 pairs of `examples/careful.jsonl` are written for this project. Half of the texts paraphrase their
source; half stay close to its wording. For `novelty`, the lower value counts as right.

    python benchmarks/careful.py cloze speed:against=source novelty
    python benchmarks/careful.py cloze --preset paper --pairs
    python benchmarks/careful.py cloze cloze:passage=0 --before 650
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from scipy.stats import binomtest
from tabulate import tabulate

from gistmeter import Example
from gistmeter.catalog import build, parse_spec
from gistmeter.core.score import Score
from gistmeter.models.run.runtime import Runtime

PAIRS = Path(__file__).parents[1] / "examples" / "careful.jsonl"
ERRORS = ("person", "place", "number", "time", "role", "negation", "cause")
STYLES = ("retold", "close")
LOWER_IS_BETTER = ("novelty",)
TIE = 1e-9
Result = Literal["right", "wrong", "tie", "unscored"]


@dataclass(frozen=True, slots=True)
class CarefulRow:
    """One text of a pair.

    Args:
        example: The text and its source; `system` is `careful` or `careless`.
        error: Kind of error in the careless text of the pair.
        style: `retold` or `close`.
    """

    example: Example
    error: str
    style: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a metric on a pair.

    Args:
        name: Document of the pair.
        error: Kind of error; see `CarefulRow`.
        style: `retold` or `close`.
        result: `right` if the careful text has the better value.
    """

    name: str
    error: str
    style: str
    result: Result


def read_careful(path: Path, *, before: int = 0) -> list[CarefulRow]:
    """Read the pairs; the careful text of each pair comes first.

    Args:
        path: The pairs.
        before: Each source begins with other sources, at least so many words of them.
    """
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        ids = {"system": row["system"], "doc_id": row["doc_id"]}
        example = Example(row["id"], row["candidate"], row["source"], **ids)
        found.append(CarefulRow(example, row["error"], row["style"]))
    sources = list(dict.fromkeys(row.example.source or "" for row in found))
    return [replace(row, example=_after(row.example, sources, before)) for row in found]


def _after(example: Example, sources: Sequence[str], words: int) -> Example:
    """Return the example with the next sources in front of its own, until there are enough words."""
    own = sources.index(example.source or "")
    front = ""
    for other in [*sources[own + 1 :], *sources[:own]]:
        if len(front.split()) >= words:
            break
        front += other + " "
    return replace(example, source=front + sources[own])


def compare(
    rows: Sequence[CarefulRow], scores: Sequence[Score], *, lower_is_better: bool = False
) -> list[Outcome]:
    """Compare the two scores of each pair."""
    outcomes = []
    for at in range(0, len(rows), 2):
        result = _result(scores[at], scores[at + 1], -1 if lower_is_better else 1)
        row = rows[at]
        outcomes.append(Outcome(str(row.example.doc_id), row.error, row.style, result))
    return outcomes


def _result(careful: Score, careless: Score, sign: int) -> Result:
    if careful.problem or careless.problem:
        return "unscored"
    difference = sign * (careful.value - careless.value)
    if abs(difference) <= TIE:
        return "tie"
    return "right" if difference > 0 else "wrong"


def interval(right: int, pairs: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a proportion."""
    found = binomtest(right, pairs).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def line(label: str, outcomes: Sequence[Outcome]) -> list[str]:
    """Return a metric's table row: right pairs, interval, ties, and right pairs by error and style."""
    right = sum(outcome.result == "right" for outcome in outcomes)
    low, high = interval(right, len(outcomes))
    neither = sum(outcome.result in ("tie", "unscored") for outcome in outcomes)
    parts = [[outcome for outcome in outcomes if outcome.error == error] for error in ERRORS]
    parts += [[outcome for outcome in outcomes if outcome.style == style] for style in STYLES]
    shares = [f"{sum(one.result == 'right' for one in part)}/{len(part)}" for part in parts]
    return [label, str(right), f"{low * 100:.0f}–{high * 100:.0f} %", str(neither), *shares]


def main() -> None:
    """Score the pairs and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("metrics", nargs="+", metavar="METRIC", help="as `gistmeter score` takes them")
    parser.add_argument("--preset", default="mini")
    parser.add_argument("--model", help="another model instead of the preset's")
    parser.add_argument("--before", type=int, default=0, help="words of other sources before each source")
    parser.add_argument("--pairs", action="store_true", help="list the pairs that are not scored right")
    arguments = parser.parse_args()
    rows = read_careful(PAIRS, before=arguments.before)
    lines, missed = [], []
    for label in arguments.metrics:
        name, options = parse_spec(label)
        runtime = Runtime(device="cpu", progress=False)
        metric = build(name, preset=arguments.preset, model=arguments.model, runtime=runtime, options=options)
        scores = metric.score([row.example for row in rows])
        lower = name in LOWER_IS_BETTER
        outcomes = compare(rows, scores, lower_is_better=lower)
        lines.append(line(f"−{label}" if lower else label, outcomes))
        missed += [(label, one) for one in outcomes if one.result != "right"]
    headers = ["metric", f"of {len(rows) // 2}", "95 %", "ties", *ERRORS, *STYLES]
    print(tabulate(lines, headers=headers, disable_numparse=True))
    if arguments.pairs:
        for label, one in missed:
            print(f"{label}: {one.name} ({one.error}, {one.style}): {one.result}")


if __name__ == "__main__":
    main()
