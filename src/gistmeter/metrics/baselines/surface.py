"""Surface: length and repetition of the candidate, counted without source or references."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from gistmeter.core.example import Example, Need
from gistmeter.core.language import Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import ngrams, no_word
from gistmeter.text.plain_words import LANGUAGES, TOKENIZER, words
from gistmeter.text.sentences import SPLITTER, split_sentences


@dataclass(frozen=True, slots=True)
class SurfaceOptions:
    """Options of surface.

    Args:
        value: Component reported as the value.
    """

    value: Literal["unique", "repeated", "words", "log_words", "sentences", "letters", "punctuation"] = (
        "unique"
    )


@dataclass(frozen=True, slots=True)
class Surface:
    """Length and repetition of the candidate, as controls and as members of combined metrics.

    `words` = number of words; `log_words` = its natural logarithm; `sentences` = number of sentences;
    `letters` = characters per word; `unique` = distinct words / words; `repeated` = share of word triples
    that occurred before; `punctuation` = punctuation marks / (words and marks). Shares are from 0 to 1.

    Args:
        options: See `SurfaceOptions`.

    >>> score = Surface().score([Example("1", "The cat sat. The cat sat.")])[0]
    >>> score.value, score.parts["words"], score.parts["repeated"]
    (0.5, 6.0, 0.25)
    """

    options: SurfaceOptions = field(default_factory=SurfaceOptions)

    name = "surface"
    needs: ClassVar[tuple[Need, ...]] = ()
    languages: ClassVar[Languages] = LANGUAGES

    @property
    def signature(self) -> Signature:
        """Option, tokenizer and sentence splitter: everything that determines the score."""
        return Signature.of(
            "surface", version=1, **options_text(self.options), tokenizer=TOKENIZER, splitter=SPLITTER
        )

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Count the words, sentences and repetitions of each candidate."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        return [self._score_one(example) for example in examples]

    def _score_one(self, example: Example) -> Score:
        own = [word.key for word in words(example.candidate, punctuation=False)]
        if not own:
            return no_word(example, "candidate", TOKENIZER)
        marks = len(words(example.candidate, punctuation=True)) - len(own)
        triples = ngrams(own, 3)
        parts = {
            "unique": len(set(own)) / len(own),
            "repeated": 1 - len(set(triples)) / len(triples) if triples else 0.0,
            "words": float(len(own)),
            "log_words": math.log(len(own)),
            "sentences": float(len(split_sentences(example.candidate))),
            "letters": sum(map(len, own)) / len(own),
            "punctuation": marks / (len(own) + marks),
        }
        return Score(example.id, parts[self.options.value], parts)
