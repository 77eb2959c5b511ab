"""Write claims that no entailment model was trained on, as rows for `recipes/check.toml`.

    python benchmarks/held_claims.py --data FOLDER --output FOLDER

The first folder contains `pairs/claims.jsonl.gz`. The recipes of the entailment models hold out one in twenty
evidence texts; of these, the claims about summaries are written, one file per data set.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from gistmeter.training.recipes.entailment.task import EntailData
from gistmeter.training.texts import part_of, read_rows

SETS = ("summedits", "fib")


def main() -> None:
    """Write the rows, with the score `Factuality`: 1 for supported claims, otherwise 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    found = defaultdict(list)
    for row in read_rows(arguments.data / "pairs/claims.jsonl.gz"):
        evidence = str(row["evidence"])
        if row["dataset"] in SETS and part_of(evidence, EntailData().parts) == 0:
            scores = {"Factuality": float(row["label"] == "supported")}
            text = {"source": evidence, "candidate": row["claim"], "doc_id": evidence[:80]}
            found[row["dataset"]].append({"id": row["id"], **text, "scores": scores})
    for name, rows in found.items():
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (arguments.output / f"claims_{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        print(f"{name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
