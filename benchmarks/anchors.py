"""Write the anchors of `gistmeter metrics` from scores of texts whose quality is known.

    python benchmarks/anchors.py rows --data summeval.dev.jsonl.gz --output anchor_rows.jsonl
    gistmeter score METRIC… -i anchor_rows.jsonl -o anchors.scores.jsonl
    gistmeter score METRIC… -i summeval.dev.jsonl.gz -o systems.scores.jsonl
    python benchmarks/anchors.py write --data summeval.dev.jsonl.gz --known anchors.scores.jsonl \
        --systems systems.scores.jsonl

The texts of `rows`: for each article the first reference (the other references stay), its first three
sentences, and a system's summary of another article.
"""

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.core.example import Example
from gistmeter.io.rows import read_rows
from gistmeter.io.scores_output import ScoresOutput, read_scores
from gistmeter.text.sentences import split_sentences

ANCHORS = Path(__file__).parents[1] / "src" / "gistmeter" / "described" / "anchors.json"
DATA = "50 articles of SummEval (development half, preset mini)"
TRAINED = ("sumqe", "quality")
"""Metrics that were trained on SummEval's judgements: their correlation with them says nothing."""
OTHER = 7  # the other article is the seventh next


def main() -> None:
    """Run one of the two steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("step", choices=["rows", "write"])
    parser.add_argument("--data", required=True, help="SummEval's rows")
    parser.add_argument("--output", default="anchor_rows.jsonl")
    parser.add_argument("--known", help="scores of the rows that the first step wrote")
    parser.add_argument("--systems", nargs="+", help="scores of SummEval's rows, in one file or several")
    options = parser.parse_args()
    if options.step == "rows":
        write_rows(options.data, Path(options.output))
    else:
        write_anchors(options.data, options.known, options.systems)


def write_rows(data: str, output: Path) -> None:
    """Write the texts whose quality is known."""
    documents: dict[str, list[Example]] = defaultdict(list)
    for row in read_rows(data):
        documents[str(row.example.doc_id)].append(row.example)
    names = sorted(documents)
    with output.open("w", encoding="utf-8") as file:
        for at, name in enumerate(names):
            own, other = documents[name][0], documents[names[(at + OTHER) % len(names)]]
            source, references = str(own.source), own.references
            lead = " ".join(source[start:end] for start, end in split_sentences(source)[:3])
            foreign = random.Random(at).choice(other).candidate
            texts = (("reference", references[0], references[1:]), ("lead-3", lead, references))
            for kind, candidate, given in (*texts, ("other article", foreign, references)):
                line = {"id": f"{kind}/{name}", "doc_id": name, "system": kind, "source": source}
                file.write(json.dumps({**line, "candidate": candidate, "references": given}) + "\n")


def write_anchors(data: str, known: str, systems: list[str]) -> None:
    """Write means, deciles and correlations of every metric in the files."""
    people = {row.example.id: row.scores for row in read_rows(data)}
    texts = read_scores(known)
    found = []
    for path in systems:
        outputs = read_scores(path)
        found += [
            _anchors(label, texts, outputs, people) for label in outputs.scores if label in texts.scores
        ]
    found.sort(key=lambda each: each["spec"])
    ANCHORS.write_text(json.dumps({"data": DATA, "metrics": found}, indent=1) + "\n", encoding="utf-8")


def _anchors(
    label: str, texts: ScoresOutput, outputs: ScoresOutput, people: dict[str, Any]
) -> dict[str, Any]:
    kinds: dict[str, list[float]] = defaultdict(list)
    for key, score in texts.scores[label].items():
        kinds[str(texts.rows[key].system)].append(score.value)
    values = np.array([score.value for score in outputs.scores[label].values()])
    kinds["system"] = values.tolist()
    known = ~np.isnan(values)
    ids = [key.id for key in outputs.scores[label]]
    dimensions = [] if label in TRAINED else sorted(people[ids[0]])
    judged = {name: np.array([people[id][name] for id in ids]) for name in dimensions}
    return {
        "spec": label,
        "signature": outputs.signatures[label].text,
        "means": {kind: round(float(np.nanmean(own)), 4) for kind, own in kinds.items()},
        "deciles": [round(float(q), 4) for q in np.quantile(values[known], np.linspace(0, 1, 11))],
        "agreement": {name: round(pearson(values[known], own[known]), 3) for name, own in judged.items()},
    }


if __name__ == "__main__":
    main()
