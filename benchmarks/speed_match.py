"""SPEED against the naive way: the same scores, one run, side by side.

The naive way encodes the sentences of each text with `sentence_transformers`, row by row and text by text,
however often a reference recurs. Both ways cut sentences the same and use the same MiniLM weights.

    python benchmarks/speed_match.py --data summeval.dev.jsonl.gz
"""

import argparse
import time

import numpy as np
from sentence_transformers import SentenceTransformer

from gistmeter import Example, load
from gistmeter.batch.rows import read_rows
from gistmeter.models.load import find_model
from gistmeter.text.sentences import split_sentences


def naive(model: SentenceTransformer, examples: list[Example]) -> list[float]:
    """Score row by row, encoding every text again: the mean over references."""
    values = []
    for example in examples:
        ours = model.encode(sentences(example.candidate), normalize_embeddings=True)
        best = []
        for reference in example.references:
            theirs = model.encode(sentences(reference), normalize_embeddings=True)
            best.append((ours @ theirs.T).max(axis=1).mean())
        values.append(float(np.mean(best)))
    return values


def sentences(text: str) -> list[str]:
    """Cut a text as SPEED does."""
    return [text[start:end] for start, end in split_sentences(text)]


def main() -> None:
    """Time both ways, print seconds, ratio and the largest difference."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="rows with candidates and references")
    parser.add_argument("--limit", type=int, default=None)
    arguments = parser.parse_args()
    examples = [row.example for row in read_rows(arguments.data) if row.problem is None][: arguments.limit]

    speed = load("speed")
    speed.score(examples[:1])
    start = time.perf_counter()
    ours = [score.value for score in speed.score(examples)]
    ours_seconds = time.perf_counter() - start

    model = SentenceTransformer(str(find_model("minilm").folder), device="cpu")
    model.max_seq_length = 512
    naive(model, examples[:1])
    start = time.perf_counter()
    theirs = naive(model, examples)
    naive_seconds = time.perf_counter() - start

    print(f"rows                 {len(examples)}")
    print(f"naive                {naive_seconds:.1f} s")
    print(f"gistmeter            {ours_seconds:.1f} s")
    print(f"ratio                {naive_seconds / ours_seconds:.1f}×")
    print(f"largest difference   {np.abs(np.array(ours) - np.array(theirs)).max():.1e}")


if __name__ == "__main__":
    main()
