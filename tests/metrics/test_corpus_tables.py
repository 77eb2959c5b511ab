"""Scores of the baselines on generated pairs, compared with stored values and with reference libraries.

A seeded generator produces the texts. `python -m tests.metrics.test_corpus_tables` wrote the values in
`golden/corpus.json` after a comparison with each reference library that is installed.
"""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from gistmeter import Example, catalog
from gistmeter.core.score import Score

TABLE = Path(__file__).parents[1] / "golden" / "corpus.json"
PAIRS = 200
BASELINES = ("rouge", "bleu", "chrf", "sari", "length_ratio", "novelty", "extractive", "content", "surface")
TEXT = (
    "the a ferry bridge harbour museum mayor farmer storm house left closed found bought called said lost "
    "welcomed repaired old new small heavy forty twelve noon night on over after before and but not it's "
    "won't £5 1931 Oslo U.S. café naïve re-opened"
)
WORDS = TEXT.split()


def corpus() -> list[Example]:
    """Return pairs whose candidate is a shuffled, shortened and changed copy of the other text."""
    rng = random.Random(20)
    return [_pair(rng, at) for at in range(PAIRS)]


def _pair(rng: random.Random, at: int) -> Example:
    source = [_sentence(rng) for _ in range(rng.randint(1, 5))]
    references = tuple(_changed(rng, source) for _ in range(rng.randint(1, 3)))
    return Example(str(at), _changed(rng, source), " ".join(source), references)


def _sentence(rng: random.Random) -> str:
    words = rng.choices(WORDS, k=rng.randint(3, 14))
    return " ".join(words).capitalize() + rng.choice([".", ".", "?", " .", "!"])


def _changed(rng: random.Random, sentences: list[str]) -> str:
    kept = rng.sample(sentences, rng.randint(1, len(sentences)))
    words = " ".join(kept).split()
    return " ".join(rng.choice(WORDS) if rng.random() < 0.2 else word for word in words)


def scores(name: str) -> list[Score]:
    """Score the corpus with the default options of a baseline."""
    return catalog.build(name).score(corpus())


def test_the_corpus_is_the_one_that_was_scored() -> None:
    stored = json.loads(TABLE.read_text(encoding="utf-8"))
    assert stored["first"] == [corpus()[0].candidate, corpus()[0].source]
    assert stored["values"].keys() == set(BASELINES), "a baseline has no table: write it"


@pytest.mark.parametrize("name", BASELINES)
def test_values_are_as_they_were(name: str) -> None:
    stored = json.loads(TABLE.read_text(encoding="utf-8"))
    found = scores(name)
    assert len(found) == PAIRS
    for score, wanted in zip(found, stored["values"][name], strict=True):
        assert score.value == pytest.approx(wanted, abs=stored["tolerance"]), (name, score.id)
    assert len(set(stored["values"][name])) > PAIRS / 4, "a table whose values hardly vary shows nothing"


def bleu(example: Example) -> float:
    from sacrebleu import sentence_bleu

    return float(sentence_bleu(example.candidate, list(example.references), use_effective_order=True).score)


def chrf(example: Example) -> float:
    from sacrebleu import sentence_chrf

    return float(sentence_chrf(example.candidate, list(example.references)).score)


def rouge(example: Example) -> float:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    found = [scorer.score(text, example.candidate)["rougeL"].fmeasure for text in example.references]
    return float(max(found))


REFERENCES: dict[str, Callable[[Example], float]] = {"bleu": bleu, "chrf": chrf, "rouge": rouge}


@pytest.mark.parametrize("name", REFERENCES)
def test_values_are_those_of_the_reference_library(name: str) -> None:
    for example, score in zip(corpus(), scores(name), strict=True):
        assert score.value == pytest.approx(REFERENCES[name](example), abs=1e-9), example


def write() -> None:
    """Write the table of stored values."""
    values = {
        name: [None if math.isnan(score.value) else round(score.value, 9) for score in scores(name)]
        for name in BASELINES
    }
    content = {
        "provenance": "gistmeter 0.1.0, corpus of tests/metrics/test_corpus_tables.py; bleu and chrf equal "
        "sacrebleu's, rouge equals rouge-score's, to 1e-9",
        "tolerance": 1e-6,
        "first": [corpus()[0].candidate, corpus()[0].source],
        "values": values,
    }
    TABLE.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
