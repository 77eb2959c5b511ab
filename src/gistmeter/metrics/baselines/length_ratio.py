"""Length ratio: number of words of the candidate relative to its source or its references."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, Literal

from gistmeter.core.example import Example, Need
from gistmeter.core.language import Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import no_word
from gistmeter.text.plain_words import LANGUAGES, TOKENIZER, words


@dataclass(frozen=True, slots=True)
class LengthRatioOptions:
    """Options of the length ratio.

    Args:
        against: Component reported as the value, and required field.
    """

    against: Literal["source", "references"] = "source"


@dataclass(frozen=True, slots=True)
class LengthRatio:
    """Number of words of the candidate, divided by that of the source and of the references.

    `source` = |candidate| / |source|; `references` = |candidate| / mean over references of
    |reference|. Punctuation marks do not count. A component is NaN if its field is missing.

    Args:
        options: See `LengthRatioOptions`.

    >>> example = Example("1", "The cat sat.", source="The old cat sat down and slept.")
    >>> LengthRatio().score([example])[0].value == 3 / 7
    True
    """

    options: LengthRatioOptions = field(default_factory=LengthRatioOptions)

    name = "length_ratio"
    languages: ClassVar[Languages] = LANGUAGES

    @property
    def needs(self) -> tuple[Need, ...]:
        """Required fields: the source, or the references."""
        return (self.options.against,)

    @property
    def signature(self) -> Signature:
        """Option and tokenizer: everything that determines the score."""
        return Signature.of("length_ratio", version=1, **options_text(self.options), tokenizer=TOKENIZER)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by its length ratio: positive, 1 for texts of equal length."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        @cache
        def count(text: str) -> int:
            return len(words(text, punctuation=False))

        return [self._score_one(example, count) for example in examples]

    def _score_one(self, example: Example, count: Callable[[str], int]) -> Score:
        own = count(example.candidate)
        if not own:
            return no_word(example, "candidate", TOKENIZER)
        source = count(example.source or "")
        lengths = [count(reference) for reference in example.references]
        worded = [length for length in lengths if length]
        parts = {
            "source": own / source if source else math.nan,
            "references": own * len(worded) / sum(worded) if worded else math.nan,
        }
        if math.isnan(parts[self.options.against]):
            return no_word(example, "source" if self.options.against == "source" else "reference", TOKENIZER)
        flags = (Flag("no_words", "reference", index=at) for at, length in enumerate(lengths) if not length)
        return Score(example.id, parts[self.options.against], parts, flags=tuple(flags))
