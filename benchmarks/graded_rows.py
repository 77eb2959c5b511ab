"""Write sentences of OneStopEnglish at three levels as rows for `recipes/quality-simplification.toml`.

    python benchmarks/graded_rows.py --data FOLDER --output FOLDER

The data folder contains `onestopenglish.jsonl.gz`. In each row, the source is the sentence of the advanced
level, the candidate its elementary version, and the reference its intermediate version. Sentences that two
levels share are left out.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from gistmeter.training.texts import read_rows

LEVELS = ("adv-ele", "adv-int")


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    arguments = parser.parse_args()
    versions: dict[str, dict[str, str]] = defaultdict(dict)
    for row in read_rows(arguments.data / "onestopenglish.jsonl.gz"):
        if row["level"] == "sentence" and row["pair"] in LEVELS:
            versions[row["source"]][row["pair"]] = row["candidate"]
    found = [(source, *(own.get(level) for level in LEVELS)) for source, own in versions.items()]
    whole = [texts for texts in found if None not in texts and len(set(texts)) == len(texts)]
    arguments.output.mkdir(parents=True, exist_ok=True)
    with (arguments.output / "onestopenglish.rows.jsonl").open("w", encoding="utf-8") as file:
        for at, (source, candidate, reference) in enumerate(whole):
            row = {"id": str(at), "source": source, "candidate": candidate, "references": [reference]}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{len(whole)} rows")


if __name__ == "__main__":
    main()
