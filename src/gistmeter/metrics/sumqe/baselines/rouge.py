"""ROUGE in the version with the highest correlation with human ratings (BEST-ROUGE, section 4.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ENGLISH, Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature
from gistmeter.matching.overlap import rouge_l, rouge_n
from gistmeter.text.rouge_words import rouge_tokenizer

NGRAMS = ("rouge1", "rouge2", "rouge3", "rouge4", "rougeL")
FIGURES = ("precision", "recall", "fmeasure")
VERSIONS = tuple(
    f"{ngram}{stem}-{figure}" for ngram in NGRAMS for stem in ("", "-stem") for figure in FIGURES
)


@dataclass(frozen=True, slots=True)
class BestRouge:
    """One version of ROUGE; with several references, the best one counts.

    Args:
        version: One of `VERSIONS`, selected by `best_version` on training rows.
    """

    version: str = "rouge2-recall"

    name = "best_rouge"
    needs: tuple[Need, ...] = ("references",)
    languages: Languages = ENGLISH

    @property
    def signature(self) -> Signature:
        """ROUGE version: everything that determines the score."""
        return Signature.of("best_rouge", version=1, rouge=self.version)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate with ROUGE, from 0 to 1."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        return [Score(example.id, rouge_versions(example)[self.version]) for example in examples]


def rouge_versions(example: Example) -> dict[str, float]:
    """Return all versions of ROUGE for an example with references."""
    found: dict[str, float] = {}
    for stem in ("", "-stem"):
        tokenize = rouge_tokenizer(stemmer=bool(stem))
        ours, theirs = tokenize(example.candidate), [tokenize(text) for text in example.references]
        for ngram in NGRAMS:
            each = [
                rouge_l(words, ours) if ngram == "rougeL" else rouge_n(words, ours, int(ngram[-1]))
                for words in theirs
            ]
            best = max(each, key=lambda figures: figures[2])
            found |= {f"{ngram}{stem}-{name}": value for name, value in zip(FIGURES, best, strict=True)}
    return found


def best_version(scores: Sequence[Mapping[str, float]], people: Sequence[float]) -> str:
    """Return the version with the highest Pearson correlation with human ratings, on training rows.

    Args:
        scores: Results of `rouge_versions` for each text.
        people: Human rating of each text.
    """
    found = [pearson([one[version] for one in scores], people) for version in VERSIONS]
    return VERSIONS[int(np.argmax(np.nan_to_num(found, nan=-np.inf)))]
