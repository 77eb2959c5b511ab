"""Length ratio: how long is the candidate beside its source, or beside its references?"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from gistmeter.core.example import Example, Need
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import no_word
from gistmeter.metrics.baselines.words import TOKENIZER, words


@dataclass(frozen=True, slots=True)
class LengthRatioOptions:
    """Options of the length ratio.

    Args:
        against: Which part is the value, and which field a row must have.
    """

    against: Literal["source", "references"] = "source"


@dataclass(frozen=True, slots=True)
class LengthRatio:
    """The candidate's number of words, divided by that of the source and of the references.

    `source` = |candidate| / |source|; `references` = |candidate| / mean over references of
    |reference|. Punctuation marks do not count. A part is NaN where its field is missing.

    Args:
        options: See `LengthRatioOptions`.

    >>> example = Example("1", "The cat sat.", source="The old cat sat down and slept.")
    >>> LengthRatio().score([example])[0].value == 3 / 7
    True
    """

    options: LengthRatioOptions = field(default_factory=LengthRatioOptions)

    name = "length_ratio"

    @property
    def needs(self) -> tuple[Need, ...]:
        """The source, or the references."""
        return (self.options.against,)

    @property
    def signature(self) -> Signature:
        """The option and the tokenizer decide the number."""
        return Signature.of("length_ratio", version=1, **options_text(self.options), tokenizer=TOKENIZER)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Divide lengths in words: positive, 1 where both texts are equally long."""
        return score_sound(examples, self.needs, self._score)

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
