"""Sentence chrF and chrF++ (Popović, 2015 and 2017), computed by the library sacrebleu."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar

from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ANY, Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import library


@dataclass(frozen=True, slots=True)
class ChrfOptions:
    """Options of chrF.

    Args:
        word_order: Maximum word n-gram order: 0 for chrF, 2 for chrF++.
        char_order: Maximum character n-gram order.
        beta: Weight of recall relative to precision.
        lowercase: Whether to ignore case.
        whitespace: Whether spaces count as characters.

    Raises:
        UsageError: If a number is too small.
    """

    word_order: int = 0
    char_order: int = 6
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False

    def __post_init__(self) -> None:
        for name, least in (("word_order", 0), ("char_order", 1), ("beta", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"{name}={getattr(self, name)}: give at least {least}")


@dataclass(frozen=True, slots=True)
class Chrf:
    """Sentence chrF, from 0 to 100.

    `chrF` = (1 + β²) · P · R / (β² · P + R), where P and R are the mean precision and recall of character
    n-grams, over the orders n that both texts have. With several references, the best one counts.

    Args:
        options: See `ChrfOptions`.

    >>> example = Example("1", "The cat sat.", references=["The cat sat down."])
    >>> round(Chrf().score([example])[0].value, 1)
    61.0
    """

    options: ChrfOptions = field(default_factory=ChrfOptions)

    name = "chrf"
    needs: ClassVar[tuple[Need, ...]] = ("references",)
    languages: ClassVar[Languages] = ANY

    @property
    def signature(self) -> Signature:
        """Options and library version: everything that determines the score."""
        versions = {"library": library("sacrebleu"), "effective_order": True, "scale": 100}
        return Signature.of("chrf", version=1, **options_text(self.options), **versions)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the character n-grams it shares with its best reference."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        from sacrebleu.metrics.chrf import CHRF

        chrf = CHRF(**{option.name: getattr(self.options, option.name) for option in fields(self.options)})
        return [
            Score(example.id, chrf.sentence_score(example.candidate, example.references).score)
            for example in examples
        ]
