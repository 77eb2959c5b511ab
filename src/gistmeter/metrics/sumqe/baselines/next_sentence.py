"""Sentence-level perplexity from next-sentence prediction (SUM-QE, section 4.2, equation 5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from gistmeter.core.example import Example, Need
from gistmeter.core.language import ENGLISH, Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature
from gistmeter.text.sentences import SPLITTER, split_sentences

if TYPE_CHECKING:
    from gistmeter.models.rate.language_model import NextSentenceModel


@dataclass(frozen=True, slots=True)
class NextSentence:
    """Mean log-probability that each sentence follows the previous one.

    Args:
        model: BERT with its pretrained next-sentence head.
    """

    model: "NextSentenceModel"

    name = "next_sentence"
    needs: tuple[Need, ...] = ()
    languages: Languages = ENGLISH

    @property
    def signature(self) -> Signature:
        """Model and sentence splitter: everything that determines the score."""
        return Signature.of("next_sentence", version=1, model=self.model.identity, splitter=SPLITTER)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by Σ log2 p(s_i | s_(i-1)) / n.

        The component `perplexity` is H of equation 5. A text of one sentence scores 0.
        """
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        texts = [
            [example.candidate[start:end] for start, end in split_sentences(example.candidate)]
            for example in examples
        ]
        pairs = [(first, second) for text in texts for first, second in pairwise(text)]
        found = iter(self.model.log2(pairs).tolist())
        scores = []
        for example, text in zip(examples, texts, strict=True):
            value = math.fsum(next(found) for _ in text[1:]) / len(text)
            scores.append(Score(example.id, value, {"perplexity": 2.0 ** min(-value, 1000.0)}))
        return scores
