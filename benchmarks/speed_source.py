"""Cross-validate the splitter, aggregation and direction of SPEED against the source.

Each fold is scored by the variant with the highest mean Pearson correlation over the dimensions on the other
folds.

    python benchmarks/speed_source.py --data summeval.dev.jsonl.gz
"""

import argparse
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gistmeter import Example
from gistmeter.io.rows import read_rows
from gistmeter.models.encode.encoder import Encoder
from gistmeter.text.sentences import split_sentences

Floats = NDArray[np.float64]
FOLDS = 5


def naive_split(text: str) -> list[str]:
    """Split at white space after sentence-final punctuation."""
    return [part for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part]


def house_split(text: str) -> list[str]:
    """Split as SPEED does."""
    return [text[start:end] for start, end in split_sentences(text)]


def variants(similarity: Floats) -> dict[str, float]:
    """Return all aggregations of a similarity matrix of shape (candidate, source sentences)."""
    forward, backward = similarity.max(axis=1), similarity.max(axis=0)
    precision, recall = forward.mean(), backward.mean()
    return {
        "precision": precision,
        "min": forward.min(),
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall),
        "(precision+recall)/2": (precision + recall) / 2,
        "(precision+min)/2": (precision + forward.min()) / 2,
    }


def columns(
    examples: list[Example], split: Callable[[str], list[str]], encoder: Encoder
) -> dict[str, Floats]:
    """Return each variant's value for every example."""
    cuts = {text: split(text) for e in examples for text in (e.candidate, e.source or "")}
    sentences = list(dict.fromkeys(sentence for cut in cuts.values() for sentence in cut))
    vectors = dict(zip(sentences, encoder.embed(sentences).vectors, strict=True))
    rows = [
        variants(
            np.stack([vectors[s] for s in cuts[e.candidate]])
            @ np.stack([vectors[s] for s in cuts[e.source or ""]]).T
        )
        for e in examples
    ]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def main() -> None:
    """Print the correlations of every variant, and of the cross-validated selection."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    rows = [row for row in read_rows(parser.parse_args().data) if row.problem is None]
    examples = [row.example for row in rows]
    dimensions = list(rows[0].scores)
    human = {name: np.array([row.scores[name] for row in rows]) for name in dimensions}
    encoder = Encoder.load("minilm")
    table = {
        f"{label} {name}": values
        for label, split in (("naive", naive_split), ("house", house_split))
        for name, values in columns(examples, split, encoder).items()
    }

    def pearson(values: Floats, dimension: str, where: NDArray[np.bool_]) -> float:
        return float(np.corrcoef(values[where], human[dimension][where])[0, 1])

    everywhere = np.ones(len(rows), dtype=bool)
    print(f"{'':32}" + "".join(f"{name:>13}" for name in dimensions))
    for name, values in table.items():
        print(f"{name:32}" + "".join(f"{pearson(values, d, everywhere):13.3f}" for d in dimensions))

    documents = np.array([e.doc_id for e in examples])
    names = np.unique(documents)
    fold = np.random.default_rng(0).permutation(len(names)) % FOLDS
    chosen: list[str] = []
    found: dict[str, list[float]] = {d: [] for d in dimensions}
    for part in range(FOLDS):
        test = np.isin(documents, names[fold == part])
        best = max(table, key=lambda name: np.mean([pearson(table[name], d, ~test) for d in dimensions]))
        chosen.append(best)
        for d in dimensions:
            found[d].append(pearson(table[best], d, test))
    print(f"{'selected on the other folds':32}" + "".join(f"{np.mean(found[d]):13.3f}" for d in dimensions))
    print("selected:", ", ".join(chosen))


if __name__ == "__main__":
    main()
